import { type ErrorCode, errorTable } from '../errors.ts'

/** A response as plain values. */
export interface ApiResponse {
  /** The HTTP status. */
  readonly status: number
  /** Names and values in turn, as in Node's `rawHeaders`. A name may occur several times. */
  readonly headers: readonly string[]
  /** The whole body; empty if there is none. */
  readonly body: string
}

/**
 * Converts plain values to a `Response`.
 *
 * @example
 * ```ts
 * import { toResponse } from 'petstore-kit'
 *
 * const response = toResponse({ status: 200, headers: ['Content-Type', 'application/json'], body: '[]' })
 * console.log(response.status) // 200
 * ```
 */
export function toResponse({ status, headers, body }: ApiResponse): Response {
  const response = new Response(body === '' ? null : body, { status })
  // `new Response(text)` sets `text/plain`; remove it before adding our own type.
  response.headers.delete('Content-Type')
  for (let i = 0; i < headers.length; i += 2) response.headers.append(headers[i] as string, headers[i + 1] as string)
  return response
}

/** Returns an error response: the three members of the interface, and the headers of its code. */
export function errorResponse(code: ErrorCode, headers: readonly string[] = [], message?: string): ApiResponse {
  const { status, message: defaultMessage } = errorTable[code]
  return jsonResponse(status, JSON.stringify({ code, message: message ?? defaultMessage, status }), headers)
}

/** Returns a JSON response. A cache must not store it, since it is for one key at one moment. */
export function jsonResponse(status: number, body: string, headers: readonly string[] = []): ApiResponse {
  return { status, headers: ['Content-Type', 'application/json', 'Cache-Control', 'no-store', ...headers], body }
}

/** Turns the response to GET into a response to HEAD: it has no body, but keeps the length (RFC 9110, section 8.6). */
export function headResponse(status: number, body: string, headers: readonly string[]): ApiResponse {
  const length = new TextEncoder().encode(body).length
  return { status, headers: [...headers, 'Content-Length', String(length)], body: '' }
}
