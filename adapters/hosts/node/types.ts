/** An event listener. Newer Node types do not accept `never` as its arguments. */
type Listener = (...args: unknown[]) => void

/** What is needed of Node's `Socket`. */
interface NodeSocket {
  readonly remoteAddress?: string | undefined
  readonly errored?: Error | null
  destroy?(): unknown
}

/** What is needed of Node's `IncomingMessage`, of HTTP/1 or of the HTTP/2 compatibility API, and of Express's `Request`. */
export interface NodeIncoming {
  readonly method?: string | undefined
  readonly url?: string | undefined
  /** The whole request target, if a router has shortened `url`. */
  readonly originalUrl?: string | undefined
  /** The part of the path that Express has matched. */
  readonly baseUrl?: string | undefined
  readonly httpVersionMajor: number
  readonly rawHeaders: readonly string[]
  /** The headers, which the host may have changed. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>> | undefined
  readonly complete: boolean
  readonly destroyed?: boolean
  /** Whether the client has disconnected, in HTTP/2. */
  readonly aborted?: boolean
  /** Whether a part of the body has been read. */
  readonly readableDidRead?: boolean
  /** Whether all of the body has been read. */
  readonly readableEnded?: boolean
  readonly readableEncoding?: string | null
  /** Whether the stream flows. */
  readonly readableFlowing?: boolean | null
  readonly socket: NodeSocket | null
  /** The value of a body parser, and the exact bytes if the host has kept them. */
  readonly body?: unknown
  readonly rawBody?: unknown
  /** Set by the parsers of Express 4 after they have parsed a body. */
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
  /** The socket, once all earlier responses of the connection have been sent. */
  readonly socket?: { uncork?(): void } | null
  /** Whether the connection stays open after this response. */
  shouldKeepAlive?: boolean
  /** The HTTP/2 stream. */
  readonly stream?:
    | {
        close(): unknown
        on(event: string, listener: Listener): unknown
        readonly writableFinished?: boolean
        readonly sentInfoHeaders?: readonly Readonly<Record<string, unknown>>[] | undefined
      }
    | undefined
  /**
   * Whether the client waits for "100 Continue", and whether it was sent, in HTTP/1. No public property shows this; checked with
   * Node 20 to 26. Without them, a client that waits sends its body after its own time limit.
   */
  readonly _expect_continue?: boolean | undefined
  readonly _sent100?: boolean | undefined
  getHeader(name: string): unknown
  getHeaderNames(): readonly string[]
  setHeader(name: string, value: string | string[]): unknown
  writeHead(status: number, headers?: object): unknown
  /** In HTTP/1. */
  flushHeaders?(): void
  write(chunk: string, callback?: (error?: Error | null) => void): boolean
  end(): unknown
  end(chunk: string): unknown
  destroy(error?: Error): unknown
  writeContinue(): void
  on(event: string, listener: Listener): unknown
}

/**
 * A request handler of Node's servers, and a middleware of frameworks built on them. It throws only if its arguments are not a
 * request and a response of Node.
 */
export type NodeHandler = (request: NodeIncoming, response: NodeOutgoing, next?: (error?: unknown) => void) => void
