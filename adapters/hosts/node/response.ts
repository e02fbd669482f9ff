import { ServerResponse } from 'node:http'
import type { ApiResponse } from '../../../src/index.ts'
import { setLastRequest } from './connections.ts'
import { closesAmidBody, drain, isLastByHead, readRest } from './drain.ts'
import { isHttp2, isSmallBody, isUnreadBody, type NodeOutgoing } from './messages.ts'
import type { NodeRequest } from './request.ts'

export function isGone({ destroyed, stream }: NodeOutgoing): boolean {
  return destroyed === true || stream?.destroyed === true
}

type ResponseBody = string | Uint8Array

/**
 * A response whose body is `bytes`. Responses can share `bytes`, but Node would copy a string for
 * each slow client.
 */
export interface BytesResponse extends ApiResponse {
  readonly body: ''
  readonly bytes: Uint8Array
}

/** Writes a response. Returns a promise if the rest of the request body is read first. */
export type ResponseWriter = (request: NodeRequest, response: ApiResponse) => Promise<void> | undefined

/** Writes the response, and discards a request body that nobody has read. */
export const writeResponse: ResponseWriter = (request, response: ApiResponse | BytesResponse) => {
  const { incoming, outgoing } = request
  if (outgoing.headersSent || isGone(outgoing)) return
  const body = 'bytes' in response ? response.bytes : response.body
  const headers = withLength(request.method, response, body)
  if (isHttp2(incoming)) return writeStream(request, response.status, headers, body)
  const isUnread = isUnreadBody(incoming)
  if (isWrapped(outgoing)) {
    setHead(outgoing, response.status, headers)
    return endAfterBody(request, () => outgoing.end(body))
  }
  const isLast = isUnread && closesAmidBody(incoming, outgoing)
  writeHead(outgoing, response.status, isLast ? [...headers, 'Connection', 'close'] : headers)
  if (isLast || (isUnread && !isSmallBody(incoming))) return endAfterDraining(request, body, isLast)
  outgoing.end(body)
  if (isUnread) readRest(incoming, outgoing)
}

/**
 * Returns whether middleware such as `compression` has replaced a method. If so, one call of `end`
 * must send the whole body.
 */
function isWrapped(outgoing: NodeOutgoing): boolean {
  const { writeHead, write, end } = ServerResponse.prototype
  return outgoing.writeHead !== writeHead || outgoing.write !== write || outgoing.end !== end
}

/** A response to HEAD already has Content-Length, and a 204 or a 304 has no response body. */
function withLength(method: string, { status, headers }: ApiResponse, body: ResponseBody): readonly string[] {
  if (method === 'HEAD' || status === 204 || status === 304) return headers
  return [...headers, 'Content-Length', String(Buffer.byteLength(body))]
}

/**
 * `writeHead` with a list is fastest, but it removes the host's headers whose names are in the
 * list.
 */
function writeHead(outgoing: NodeOutgoing, status: number, headers: readonly string[]): void {
  if (outgoing.getHeaderNames().length === 0) outgoing.writeHead(status, headers)
  else setHead(outgoing, status, headers)
}

function setHead(outgoing: NodeOutgoing, status: number, headers: readonly string[]): void {
  outgoing.statusCode = status
  for (const [name, values] of mergeHeaders(headers, (header) => outgoing.getHeader(header)))
    outgoing.setHeader(name, values)
}

/**
 * Writes an HTTP/2 response. The request body is discarded, because unread data would count against
 * the session's memory. If the request body does not end soon after the response, the stream is
 * closed. This function waits for `finish` of `stream`, because `finish` of `outgoing` comes only
 * after the stream has closed.
 */
function writeStream(request: NodeRequest, status: number, headers: readonly string[], body: ResponseBody): undefined {
  const { incoming, outgoing } = request
  setHead(outgoing, status, headers)
  if (!incoming.complete) {
    const { stream } = outgoing
    incoming.resume?.()
    stream?.on('finish', async () => {
      await drain(incoming)
      if (!incoming.complete) stream.close()
    })
  }
  outgoing.end(body)
}

/**
 * Sends the whole response, but ends it only after the request body is read. Otherwise, a
 * connection that closes with unread bytes is reset, and the client may lose the response.
 */
async function endAfterDraining(request: NodeRequest, body: ResponseBody, isLast: boolean): Promise<void> {
  const { incoming, outgoing } = request
  if (isLast) setLastRequest(incoming)
  // If the response has no body, Node would otherwise send its headers only at `end`, after the
  // request body is read.
  outgoing.flushHeaders?.()
  const onWritten = (error?: Error | null) => {
    request.isAnswered = !error
  }
  if (body.length > 0) outgoing.write(body, onWritten)
  else onWritten()
  await drain(incoming)
  if (isLast || incoming.complete) outgoing.end('')
  else outgoing.destroy()
}

/**
 * Calls `end`, which sends the response. If this also closes the connection, first reads the rest
 * of the request body.
 */
export function endAfterBody({ incoming, outgoing }: NodeRequest, end: () => void): Promise<void> | undefined {
  const isUnread = isUnreadBody(incoming)
  if (isUnread && isLastByHead(incoming, outgoing)) {
    outgoing.shouldKeepAlive = false
    return drain(incoming).then(end)
  }
  if (isUnread) readRest(incoming, outgoing)
  end()
}

const LISTS = new Set(['link', 'set-cookie', 'vary', 'www-authenticate'])

/**
 * Groups a list of alternating names and values by name. For headers that can have several values,
 * adds the host's values.
 */
export function mergeHeaders(
  headers: readonly string[],
  hostHeader: (name: string) => unknown,
): [name: string, values: string | string[]][] {
  const groups = new Map<string, { readonly name: string; readonly values: string[] }>()
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string
    const value = headers[i + 1] as string
    const group = groups.get(name.toLowerCase())
    if (group) group.values.push(value)
    else groups.set(name.toLowerCase(), { name, values: [value] })
  }
  return [...groups].map(([lowerName, { name, values }]) => {
    const ofHost = LISTS.has(lowerName) ? [hostHeader(lowerName) ?? []].flat().map(String) : []
    const all = lowerName === 'vary' ? [varyOf([...ofHost, ...values])] : [...ofHost, ...values]
    return [name, all.length === 1 ? (all[0] as string) : all]
  })
}

/**
 * Returns one `Vary` header without repetitions; `*` includes every name (RFC 9110, section
 * 12.5.5).
 */
function varyOf(values: readonly string[]): string {
  const names = new Map<string, string>()
  for (const name of values.flatMap((value) => value.split(',')).map((text) => text.trim()))
    if (!names.has(name.toLowerCase())) names.set(name.toLowerCase(), name)
  return names.has('*') ? '*' : [...names.values()].join(', ')
}
