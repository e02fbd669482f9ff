import { type IncomingMessage, ServerResponse } from 'node:http'
import type { ApiResponse } from '../../../src/index.ts'

/**
 * A response whose body is `bytes`. Responses can share `bytes`, but Node would copy a string for
 * each slow client.
 */
export interface BytesResponse extends ApiResponse {
  readonly body: ''
  readonly bytes: Uint8Array
}

/** Writes a response. Returns a promise if the rest of the request body is read first. */
export function writeResponse(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  response: ApiResponse | BytesResponse,
): Promise<void> | undefined {
  const discarded = discardBody(incoming, outgoing)
  if (discarded) return discarded.then(() => send(incoming, outgoing, response))
  send(incoming, outgoing, response)
  return undefined
}

function send(incoming: IncomingMessage, outgoing: ServerResponse, response: ApiResponse | BytesResponse): void {
  if (outgoing.headersSent || outgoing.destroyed) return
  const { status, headers } = response
  const body = 'bytes' in response ? response.bytes : response.body
  // A response to HEAD has a Content-Length of its own.
  const hasLength = incoming.method !== 'HEAD' && status !== 204 && status !== 304
  const complete = hasLength ? [...headers, 'Content-Length', String(Buffer.byteLength(body))] : headers
  const fields = takesList(outgoing) ? complete : mergeHeaders(complete, (name) => outgoing.getHeader(name))
  // The types of Node lack a list of several texts.
  outgoing.writeHead(status, fields as string[])
  outgoing.end(body)
}

/**
 * Returns whether headers may be passed as a list, which is fastest. Node lets a list replace the headers
 * of the host, and code of others that has replaced `writeHead` may misread it.
 */
function takesList(outgoing: ServerResponse): boolean {
  return outgoing.writeHead === ServerResponse.prototype.writeHead && outgoing.getHeaderNames().length === 0
}

/** Headers with several values. They keep the values that the host has set. */
const LISTS = new Set(['link', 'set-cookie', 'vary', 'www-authenticate'])

/** Converts a list of alternating names and values to an object, in which a name may have several values. */
export function mergeHeaders(
  headers: readonly string[],
  hostHeader: (name: string) => unknown,
): Record<string, string | string[]> {
  const fields: Record<string, string | string[]> = {}
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string
    const value = headers[i + 1] as string
    const lowerName = name.toLowerCase()
    const earlier = fields[name] ?? (LISTS.has(lowerName) ? hostHeader(name) : undefined)
    if (earlier === undefined) fields[name] = value
    else {
      const values = [earlier, value].flat().map(String)
      fields[name] = lowerName === 'vary' ? varyOf(values) : values
    }
  }
  return fields
}

/**
 * Returns one `Vary` header without repetitions; `*` includes every name (RFC 9110, section
 * 12.5.5).
 */
function varyOf(values: readonly string[]): string {
  const names = values.flatMap((value) => value.split(',')).map((name) => name.trim())
  if (names.includes('*')) return '*'
  const lowerNames = names.map((name) => name.toLowerCase())
  return names.filter((_, i) => lowerNames.indexOf(lowerNames[i] as string) === i).join(', ')
}

/**
 * Discards a request body that the store has not read to its end, so that the client can send its
 * next request. Returns a promise if the response must wait for this: a connection that closes with
 * unread bytes is reset, and then the client may lose the response.
 */
export function discardBody(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> | undefined {
  if (incoming.complete !== false) return undefined
  const discarded = discardRest(incoming)
  if (outgoing.shouldKeepAlive === false) return discarded
  void discarded.then(() => {
    if (!incoming.complete) incoming.destroy()
  })
  return undefined
}

/** How much of a rejected upload is read, in bytes, and how long the server waits for more of it. */
const MAX_DISCARDED = 16_777_216
const MAX_PAUSE = 2_000

function discardRest(incoming: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, MAX_PAUSE).unref()
    const stop = () => {
      clearTimeout(timer)
      resolve()
    }
    let discarded = 0
    incoming.on('data', (chunk) => {
      discarded += chunk.length
      if (discarded > MAX_DISCARDED) stop()
      else timer.refresh()
    })
    incoming.on('end', stop)
    incoming.on('close', stop)
    incoming.resume()
  })
}
