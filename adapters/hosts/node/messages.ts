/** The arguments are `unknown`, because newer Node types do not accept `never`. */
type Listener = (...args: unknown[]) => void

interface NodeSocket {
  readonly remoteAddress?: string | undefined
  readonly errored?: Error | null
  destroy?(): unknown
}

/**
 * The part of a request that the adapters use, in HTTP/1, in Node's HTTP/2 compatibility API, and
 * in Express.
 */
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
  /**
   * `body` is the value that a body parser has set; `rawBody` is the exact bytes, if the host has
   * kept them.
   */
  readonly body?: unknown
  readonly rawBody?: unknown
  on(event: string, listener: Listener): unknown
  removeListener(event: string, listener: Listener): unknown
  listenerCount?(event: string): number
  read(): unknown
  resume?(): unknown
}

/** Mock requests may have no `httpVersionMajor`; in serverless-http, it is a string. */
export function isHttp2({ httpVersionMajor = 1 }: NodeIncoming): boolean {
  return Number(httpVersionMajor) > 1
}

/**
 * The part of a response that the adapters use: Node's `ServerResponse`, or the response of the
 * HTTP/2 compatibility API.
 */
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
 * A request handler for Node's servers, and a middleware for frameworks built on them. It throws
 * only if its arguments are not a request and a response of Node. For hosts such as Koa, it returns
 * a promise that resolves when the response has its status.
 */
export type NodeHandler = (request: NodeIncoming, response: NodeOutgoing, next?: (error?: unknown) => void) => unknown

type HeaderSource = Pick<NodeIncoming, 'rawHeaders' | 'headers'>

/** Returns a header by its lower-case name. Several values are joined by a comma and a space. */
export type HeaderReader = (incoming: HeaderSource, name: string) => string | undefined

function nextHeader(rawHeaders: readonly string[], name: string, start: number): number {
  for (let i = start; i < rawHeaders.length; i += 2) {
    const field = rawHeaders[i] as string
    if (field.length === name.length && field.toLowerCase() === name) return i
  }
  return -1
}

/**
 * Returns a header of Node's `headers`, which other code may have changed, for example to a number.
 */
function parsedHeader({ headers }: HeaderSource, name: string): string | undefined {
  const value = headers?.[name] ?? undefined
  return Array.isArray(value) ? value.join(', ') : value?.toString()
}

/**
 * Returns a header as the client sent it, from `rawHeaders`: Node's `headers` is slow, and drops a
 * second `Authorization`. Uses `headers` only for a request that the host has built without
 * `rawHeaders`, as serverless-http and node-mocks-http do.
 */
export function sentHeader(incoming: HeaderSource, name: string): string | undefined {
  const { rawHeaders } = incoming
  if (!rawHeaders?.length) return parsedHeader(incoming, name)
  let joined: string | undefined
  for (let i = nextHeader(rawHeaders, name, 0); i !== -1; i = nextHeader(rawHeaders, name, i + 2))
    joined = joined === undefined ? rawHeaders[i + 1] : `${joined}, ${rawHeaders[i + 1]}`
  return joined
}

/**
 * Returns a header from Node's `headers` if other code has changed it there; otherwise, returns it
 * as the client sent it.
 */
export function currentHeader(incoming: HeaderSource, name: string): string | undefined {
  const sent = sentHeader(incoming, name)
  const current = parsedHeader(incoming, name)
  if (current === sent) return sent
  // Node's `headers` has only the first value of some headers. So if `current` is this value,
  // nobody has changed it.
  const { rawHeaders = [] } = incoming
  const first = nextHeader(rawHeaders, name, 0)
  return first !== -1 && rawHeaders[first + 1] === current ? sent : current
}

export function declaredLength(incoming: HeaderSource): number {
  return Number(sentHeader(incoming, 'content-length') ?? 0)
}

/** A request body of at most this declared length, in bytes, is always read to its end. */
export const SMALL_BODY = 1_048_576

/**
 * Returns whether the request has a body of which a part has not been read. A mock request without
 * `complete` has none.
 */
export function isUnreadBody(incoming: NodeIncoming): boolean {
  return incoming.complete === false && (isChunked(incoming) || declaredLength(incoming) > 0)
}

function isChunked(incoming: NodeIncoming): boolean {
  return sentHeader(incoming, 'transfer-encoding') !== undefined
}

export function isSmallBody(incoming: NodeIncoming): boolean {
  return !isChunked(incoming) && declaredLength(incoming) <= SMALL_BODY
}
