import type { ServerResponse } from 'node:http'
import { isBelow, originForm, pathOf } from '../../../src/http/request.ts'
import type { ApiRequest } from '../../../src/index.ts'
import type { AddressOfHost } from '../shared/mounted-store.ts'
import { readBody } from './body.ts'
import type { HostRequest } from './messages.ts'

/**
 * How many headers of a request Node keeps by default (`server.maxHeadersCount`). Node drops the
 * others.
 */
const MAX_HEADERS = 1_000

/** A request of Node. Everything except the address is read only when the store needs it. */
export class NodeRequest implements ApiRequest {
  readonly method: string
  readonly target: string
  readonly mountPath: string
  readonly #incoming: HostRequest
  readonly #outgoing: ServerResponse
  readonly #readAddress: AddressOfHost
  /** The IP address of the connection. Read at the start, because a closed socket has none. */
  readonly #peer: string | undefined
  #abort: AbortController | undefined

  constructor(incoming: HostRequest, outgoing: ServerResponse, mounted: MountedTarget, readAddress: AddressOfHost) {
    this.method = incoming.method ?? 'GET'
    this.target = mounted.target
    this.mountPath = mounted.mountPath
    this.#incoming = incoming
    this.#outgoing = outgoing
    this.#readAddress = readAddress
    this.#peer = incoming.socket?.remoteAddress
  }

  get clientAddress(): string | undefined {
    // If Node may have dropped the header of the proxy, a client could have sent the one that is left.
    const { rawHeaders = [] } = this.#incoming
    const isComplete = rawHeaders.length < 2 * MAX_HEADERS
    return this.#readAddress(this.#peer, (name) => (isComplete ? this.header(name) : undefined))
  }

  /** Aborts if the client disconnects before the response. */
  get signal(): AbortSignal {
    this.#abort ??= abortOnLeave(this.#incoming, this.#outgoing)
    return this.#abort.signal
  }

  /** Reads Node's `headers`, which middleware may have changed. */
  header(name: string): string | undefined {
    const { headers, rawHeaders = [] } = this.#incoming
    const value = headers[name]
    // Node drops a second `Authorization`. With both, the request gets 401.
    if (name === 'authorization' && isRepeated(rawHeaders, name)) return `${value}, ${value}`
    return Array.isArray(value) ? value.join(', ') : value?.toString()
  }

  body(limit: number): Promise<Uint8Array> {
    return readBody(this.#incoming, limit)
  }
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
