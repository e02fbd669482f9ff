import type { ServerResponse } from 'node:http'
import { isBelow, originForm, pathOf } from '../../../src/http/request.ts'
import type { ApiRequest } from '../../../src/index.ts'
import { readBody } from './body.ts'
import type { HostRequest } from './messages.ts'

/** A request of Node. Almost everything is read only when the store needs it. */
export class NodeRequest implements ApiRequest {
  readonly method: string
  readonly target: string
  readonly mountPath: string
  /** Read at the start, because a closed socket has no address. */
  readonly clientAddress: string | undefined
  readonly #incoming: HostRequest
  readonly #outgoing: ServerResponse
  #abort: AbortController | undefined

  constructor(
    incoming: HostRequest,
    outgoing: ServerResponse,
    mounted: MountedTarget,
    clientAddress: string | undefined,
  ) {
    this.method = incoming.method ?? 'GET'
    this.target = mounted.target
    this.mountPath = mounted.mountPath
    this.#incoming = incoming
    this.#outgoing = outgoing
    this.clientAddress = clientAddress
  }

  /** Aborts if the client disconnects before the response. */
  get signal(): AbortSignal {
    this.#abort ??= abortOnLeave(this.#incoming, this.#outgoing)
    return this.#abort.signal
  }

  header(name: string): string | undefined {
    const value = headerOf(this.#incoming, name)
    // Node drops a second `Authorization`. With both, the request gets 401.
    const isTwice = name === 'authorization' && isRepeated(this.#incoming.rawHeaders ?? [], name)
    return isTwice ? `${value}, ${value}` : value
  }

  body(limit: number): Promise<Uint8Array> {
    return readBody(this.#incoming, limit)
  }
}

/** Reads Node's `headers`, which middleware may have changed. */
function headerOf({ headers }: HostRequest, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value.join(', ') : value?.toString()
}

/**
 * How many headers of a request Node keeps by default (`server.maxHeadersCount`). Node drops the
 * others.
 */
const MAX_HEADERS = 1_000

/**
 * Returns whether Node has kept all headers. If it may have dropped the header of the proxy, a
 * client could have sent the one that is left.
 */
export function hasAllHeaders({ rawHeaders = [] }: HostRequest): boolean {
  return rawHeaders.length < 2 * MAX_HEADERS
}

/** Returns a function that reads the headers in which proxies add addresses. */
export function proxyHeaders(incoming: HostRequest): (name: string) => string | undefined {
  return (name) => (hasAllHeaders(incoming) ? headerOf(incoming, name) : undefined)
}

function abortOnLeave(incoming: HostRequest, outgoing: ServerResponse): AbortController {
  const controller = new AbortController()
  const onClose = () => {
    if (!outgoing.writableEnded) controller.abort()
  }
  // In HTTP/2, a response has no `destroyed`.
  if (outgoing.destroyed || incoming.aborted) onClose()
  else outgoing.on('close', onClose)
  return controller
}

function isRepeated(rawHeaders: readonly string[], name: string): boolean {
  let times = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const sent = rawHeaders[i] as string
    if (sent.length === name.length && sent.toLowerCase() === name) times++
  }
  return times > 1
}

export interface MountedTarget {
  /** The whole target, including the mount path. */
  readonly target: string
  /** The part of the path before the base path, such as `/shop`. */
  readonly mountPath: string
}

/**
 * Returns `undefined` if the path is outside the base path. A router has matched the mount path,
 * such as `/shop`, and perhaps a part of the base path, such as `/api` or `/shop/api` of `/api/v1`.
 */
export function findMountedTarget(incoming: HostRequest, basePath: string): MountedTarget | undefined {
  const matched = matchedPath(incoming)
  const rest = originForm(incoming.url ?? '/')
  // If a router matches the whole path, Express sets `url` to `/`, although the client sent no slash.
  const isSlashAdded =
    matched !== '' && pathOf(rest) === '/' && pathOf(originForm(incoming.originalUrl ?? '')) === matched
  const target = matched + (isSlashAdded ? rest.slice(1) : rest)
  const path = pathOf(target)
  for (let mountPath: string | undefined = matched; mountPath !== undefined; mountPath = parentOf(mountPath))
    if (isBelow(path.slice(mountPath.length), basePath)) return { target, mountPath }
  return undefined
}

function parentOf(path: string): string | undefined {
  return path === '' ? undefined : path.slice(0, path.lastIndexOf('/'))
}

/** Returns what routers have removed from the start of `url`. Only Express tells it, in `baseUrl`. */
export function matchedPath({ url = '/', baseUrl, originalUrl }: HostRequest): string {
  if (baseUrl !== undefined || originalUrl === undefined) return baseUrl ?? ''
  const whole = pathOf(originForm(originalUrl))
  const rest = pathOf(originForm(url))
  return whole.endsWith(rest) ? whole.slice(0, -rest.length) : ''
}
