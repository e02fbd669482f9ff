/** The arguments are `unknown`, because newer Node types do not accept `never`. */
type Listener = (...args: unknown[]) => void

interface NodeSocket {
  readonly remoteAddress?: string | undefined
  readonly errored?: Error | null
  destroy?(): unknown
}

/** The part of a request that the adapters use, in HTTP/1, in Node's HTTP/2 compatibility API, and in Express. */
export interface NodeIncoming {
  readonly method?: string | undefined
  readonly url?: string | undefined
  /** The whole request target, if a router has shortened `url`. */
  readonly originalUrl?: string | undefined
  /** The part of the path that Express has matched. */
  readonly baseUrl?: string | undefined
  readonly httpVersionMajor?: number | undefined
  /** Names and values alternate. Missing or empty if the host has built the request itself. */
  readonly rawHeaders?: readonly string[] | undefined
  /** The headers, which the host may have changed. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>> | undefined
  readonly complete?: boolean | undefined
  readonly destroyed?: boolean
  /** In HTTP/2: whether the client has disconnected. */
  readonly aborted?: boolean
  /** Whether a part of the body has been read. Missing in mock requests that are no stream. */
  readonly readableDidRead?: boolean
  /** Whether all of the body has been read. */
  readonly readableEnded?: boolean
  readonly readableEncoding?: string | null
  /** Whether the stream flows; `null` until something reads the stream. */
  readonly readableFlowing?: boolean | null
  readonly socket: NodeSocket | null
  /** `body` is the value that a body parser has set; `rawBody` is the exact bytes, if the host has kept them. */
  readonly body?: unknown
  readonly rawBody?: unknown
  on(event: string, listener: Listener): unknown
  removeListener(event: string, listener: Listener): unknown
  listenerCount(event: string): number
  read(): unknown
  resume?(): unknown
}

/** Mock requests may have no `httpVersionMajor`; in serverless-http, it is a string. */
export function isHttp2({ httpVersionMajor = 1 }: NodeIncoming): boolean {
  return Number(httpVersionMajor) > 1
}

/** The part of a response that the adapters use: Node's `ServerResponse`, or the response of the HTTP/2 compatibility API. */
export interface NodeOutgoing {
  statusCode: number
  readonly headersSent: boolean
  readonly writableFinished?: boolean
  readonly destroyed?: boolean
  /** Whether the connection stays open after this response. */
  shouldKeepAlive?: boolean
  readonly stream?:
    | {
        close(): unknown
        on(event: string, listener: Listener): unknown
        readonly destroyed?: boolean
        readonly writableFinished?: boolean
        readonly sentInfoHeaders?: readonly Readonly<Record<string, unknown>>[] | undefined
      }
    | undefined
  getHeader(name: string): unknown
  getHeaderNames(): readonly string[]
  setHeader(name: string, value: string | string[]): unknown
  writeHead(status: number, headers?: object): unknown
  /** Exists only in HTTP/1. */
  flushHeaders?(): void
  write(chunk: string | Uint8Array, callback?: (error?: Error | null) => void): boolean
  end(): unknown
  end(chunk: string | Uint8Array): unknown
  destroy(error?: Error): unknown
  writeContinue(): void
  on(event: string, listener: Listener): unknown
}

/**
 * A request handler for Node's servers, and a middleware for frameworks built on them. It throws only if its arguments are not a
 * request and a response of Node. For hosts such as Koa, it returns a promise that resolves when the response has its status.
 */
export type NodeHandler = (request: NodeIncoming, response: NodeOutgoing, next?: (error?: unknown) => void) => unknown
