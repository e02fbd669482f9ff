import { type ErrorCode, errorTable } from '../errors.ts'

/** A response as plain values. */
export interface ApiResponse {
  /** The HTTP status. */
  readonly status: number
  /** Names and values by turns, as in Node's `rawHeaders`. */
  readonly headers: readonly string[]
  /** The whole body; empty where there is none. */
  readonly body: string
}

/**
 * Makes a `Response` of plain values.
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
  const response = new Response(body === '' ? null : body, status === 200 ? undefined : { status })
  // Text has a type of its own, beside which ours would stand.
  response.headers.delete('Content-Type')
  for (let i = 0; i < headers.length; i += 2) response.headers.append(headers[i] as string, headers[i + 1] as string)
  return response
}

/** An error response: the three members of the contract, and the headers that go with the code. */
export function errorReply(code: ErrorCode, headers: readonly string[] = [], message?: string): ApiResponse {
  const { status, message: usual } = errorTable[code]
  return jsonReply(status, JSON.stringify({ code, message: message ?? usual, status }), headers)
}

/**
 * A response of JSON, and the headers that go with it. It is for one key at one moment: a cache that is told to keep answers
 * by their status would hand it to strangers.
 */
export function jsonReply(status: number, body: string, headers: readonly string[] = []): ApiResponse {
  return { status, headers: ['Content-Type', 'application/json', 'Cache-Control', 'no-store', ...headers], body }
}

/** The answer to HEAD in place of that to GET: without its body, but with the length of it (RFC 9110, section 8.6). */
export function headReply(status: number, body: string, headers: readonly string[]): ApiResponse {
  const length = new TextEncoder().encode(body).length
  return { status, headers: [...headers, 'Content-Length', String(length)], body: '' }
}
