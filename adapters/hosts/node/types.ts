/** An event listener: what its events bring is for the listener to know. Newer types of Node take no `never` here. */
type Listener = (...args: unknown[]) => void

/** What is needed of Node's `Socket`. */
interface NodeSocket {
  readonly remoteAddress?: string | undefined
  readonly errored?: Error | null
  /** The response whose turn it is, in HTTP/1. */
  readonly _httpMessage?: { readonly req?: unknown } | null
  destroy?(): unknown
}

/** What is needed of Node's `IncomingMessage`, of HTTP/1 or of the HTTP/2 compatibility API, and of Express's `Request`. */
export interface NodeIncoming {
  readonly method?: string | undefined
  readonly url?: string | undefined
  /** The whole request target, where a router has shortened `url`. */
  readonly originalUrl?: string | undefined
  /** What of its path the router has matched, where that is Express's. */
  readonly baseUrl?: string | undefined
  /** What the parameters of a route have taken in, there as well. */
  readonly params?: Readonly<Record<string, unknown>> | undefined
  readonly httpVersionMajor: number
  readonly rawHeaders: readonly string[]
  /** What code of the host may have changed. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>> | undefined
  readonly complete: boolean
  readonly destroyed?: boolean
  /** Whether the client has left, in HTTP/2. */
  readonly aborted?: boolean
  /** Whether any of the body has been read, and whether all of it. */
  readonly readableDidRead?: boolean
  readonly readableEnded?: boolean
  readonly readableEncoding?: string | null
  /** Whether what comes is handed on at once. */
  readonly readableFlowing?: boolean | null
  readonly socket: NodeSocket | null
  /** What a body parser of the host has made of the body, and the exact bytes where the host has kept them. */
  readonly body?: unknown
  readonly rawBody?: unknown
  /** Set by Express 4's parsers where they have really parsed. */
  readonly _body?: unknown
  on(event: string, listener: Listener): unknown
  removeListener(event: string, listener: Listener): unknown
  listenerCount(event: string): number
  read(): unknown
  resume(): unknown
}

/** What is needed of Node's `ServerResponse`, of HTTP/1 or of the HTTP/2 compatibility API. */
export interface NodeOutgoing {
  statusCode: number
  readonly headersSent: boolean
  readonly writableEnded: boolean
  readonly writableFinished?: boolean
  readonly destroyed?: boolean
  /** That of the connection, once it is this response's turn there. */
  readonly socket?: { uncork?(): void } | null
  /** Whether the connection is kept after this, as the client wants it at first. */
  shouldKeepAlive?: boolean
  /** The stream beneath, in HTTP/2 alone. */
  readonly stream?:
    | {
        close(): unknown
        on(event: string, listener: Listener): unknown
        readonly writableFinished?: boolean
        readonly sentInfoHeaders?: readonly Readonly<Record<string, unknown>>[] | undefined
      }
    | undefined
  /** Whether the client waits for "100 Continue", and whether it was sent, in HTTP/1 alone. */
  readonly _expect_continue?: boolean | undefined
  readonly _sent100?: boolean | undefined
  getHeader(name: string): unknown
  getHeaderNames(): readonly string[]
  setHeader(name: string, value: string | string[]): unknown
  writeHead(status: number, headers?: object): unknown
  /** In HTTP/1 alone. */
  flushHeaders?(): void
  write(chunk: string, callback?: (error?: Error | null) => void): boolean
  end(): unknown
  end(chunk: string): unknown
  destroy(error?: Error): unknown
  writeContinue(): void
  on(event: string, listener: Listener): unknown
}

/**
 * A request handler for Node's servers, and a middleware for what is built on them. It throws only where it is given no
 * request and response of Node, and never rejects.
 */
export type NodeHandler = (request: NodeIncoming, response: NodeOutgoing, next?: (error?: unknown) => void) => void
