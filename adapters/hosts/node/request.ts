import type { ErrorCode } from '../../../src/errors.ts'
import { isBelow, originForm, pathOf } from '../../../src/http/request.ts'
import type { ApiRequest } from '../../../src/index.ts'
import type { AddressOfHost } from '../shared/mounted-store.ts'
import { NodeBody } from './body.ts'
import type { HeaderReader } from './messages.ts'
import { isHttp2, type NodeIncoming, type NodeOutgoing } from './messages.ts'

/**
 * How many headers of a request Node keeps by default (`server.maxHeadersCount`). Node drops the
 * others.
 */
const MAX_HEADERS = 1_000

/**
 * A request of Node. The constructor reads the address of the connection, and begins to copy the
 * body if the host reads it too. Everything else is read only when it is needed.
 */
export class NodeRequest implements ApiRequest {
  readonly method: string
  readonly target: string
  readonly mountPath: string
  readonly rejection: ErrorCode | undefined
  /**
   * True after the whole response is written, even if the connection stays open until the rest of
   * the request body is read.
   */
  isAnswered = false
  readonly incoming: NodeIncoming
  readonly outgoing: NodeOutgoing
  readonly #readAddress: AddressOfHost
  readonly #readHeader: HeaderReader
  /** The IP address of the connection. Read at the start, because a closed socket has none. */
  readonly #peer: string | undefined
  readonly #body: NodeBody
  #abort: AbortController | undefined

  constructor(
    incoming: NodeIncoming,
    outgoing: NodeOutgoing,
    mounted: MountedTarget,
    readAddress: AddressOfHost,
    readHeader: HeaderReader,
    rejection?: ErrorCode,
  ) {
    this.method = incoming.method ?? 'GET'
    this.target = mounted.target
    this.mountPath = mounted.mountPath
    this.incoming = incoming
    this.outgoing = outgoing
    this.#readAddress = readAddress
    this.#readHeader = readHeader
    this.#peer = peerAddress(incoming)
    this.#body = new NodeBody(incoming, outgoing)
    this.rejection = rejection
  }

  get clientAddress(): string | undefined {
    // If Node may have dropped headers, a proxy's entry may be missing. Then only the IP address of
    // the connection is used.
    const { rawHeaders = [] } = this.incoming
    const isComplete = rawHeaders.length < 2 * MAX_HEADERS
    return this.#readAddress(this.#peer, (name) => (isComplete ? this.header(name) : undefined))
  }

  get signal(): AbortSignal {
    this.#abort ??= abortOnLeave(this)
    return this.#abort.signal
  }

  header(name: string): string | undefined {
    return this.#readHeader(this.incoming, name)
  }

  body(limit: number): Promise<Uint8Array> {
    return this.#body.read(limit)
  }
}

/** After an HTTP/2 session has closed, reading its socket throws. */
function peerAddress({ socket }: NodeIncoming): string | undefined {
  try {
    return socket?.remoteAddress
  } catch {
    return undefined
  }
}

/**
 * Aborts if the response closes before all of it was sent. The socket's error is checked too,
 * because Node reports a response as finished even if its last bytes could not be written.
 */
function abortOnLeave(request: NodeRequest): AbortController {
  const { incoming, outgoing } = request
  const controller = new AbortController()
  const isFinished = () => outgoing.writableFinished ?? outgoing.stream?.writableFinished
  // HTTP/2 sockets are not checked: many requests share a socket, and reading its properties may
  // throw.
  const hasFailed = () => !isHttp2(incoming) && incoming.socket?.errored != null
  const onClose = () => {
    if (!request.isAnswered && (!isFinished() || hasFailed())) controller.abort()
  }
  if (isHttp2(incoming)) incoming.on('aborted', () => controller.abort())
  if (outgoing.destroyed) onClose()
  else outgoing.on('close', onClose)
  return controller
}

export interface MountedTarget {
  /** The whole target, including the mount path. */
  readonly target: string
  /** The part of the path before the base path, such as `/shop`. */
  readonly mountPath: string
}

/**
 * Returns `undefined` if the path is outside the base path. `url` lacks the part of the path that a
 * router has matched. This part is the mount path, such as `/shop`, or it ends with a part of the
 * base path, such as `/api` or `/shop/api` for the base path `/api/v1`.
 */
export function findMountedTarget(incoming: NodeIncoming, basePath: string): MountedTarget | undefined {
  const matched = matchedPath(incoming)
  const rest = originForm(incoming.url ?? '/')
  if (isBelow(pathOf(rest), basePath)) return { target: matched + rest, mountPath: matched }
  // If a router matches the whole path, Express sets `url` to `/`. The slash is removed if the
  // client did not send it.
  const isAdded = pathOf(rest) === '/' && pathOf(originForm(incoming.originalUrl ?? '')) === matched
  const target = matched + (isAdded ? rest.slice(1) : rest)
  const outside = matched.slice(0, matched.length - overlap(matched, basePath).length)
  const mountPath = [outside, ''].find((mount) => isBelow(pathOf(target).slice(mount.length), basePath))
  return mountPath === undefined ? undefined : { target, mountPath }
}

/**
 * Returns the part of the path that routers have matched; '' if it is unknown because other code
 * has rewritten `url`.
 */
export function matchedPath({ url, baseUrl, originalUrl }: NodeIncoming): string {
  // In node-mocks-http, `baseUrl` is the whole path, although no router has removed anything from
  // `url`.
  if (baseUrl !== undefined && url !== originalUrl) return baseUrl
  if (originalUrl === undefined) return ''
  const path = pathOf(originForm(originalUrl))
  const end = pathOf(originForm(url ?? '/'))
  return path.endsWith(end) ? path.slice(0, -end.length) : ''
}

/**
 * Returns the end of the prefix that is also the start of the base path: `/v1` for `/shop/v1` and
 * the base path `/v1/a`.
 */
export function overlap(prefix: string, basePath: string): string {
  for (let at = prefix.indexOf('/'); at !== -1; at = prefix.indexOf('/', at + 1))
    if (isBelow(basePath, prefix.slice(at))) return prefix.slice(at)
  return ''
}
