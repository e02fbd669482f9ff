import { type ErrorCode, errorTable, type PetStoreErrorCode } from '../errors.ts'

/** A response as plain values. */
export interface ApiResponse {
  /** The HTTP status. */
  readonly status: number
  /** Names and values alternate, as in Node's `rawHeaders`. A name may occur several times. */
  readonly headers: readonly string[]
  /** The whole body; empty if there is none. */
  readonly body: string
}

/**
 * Converts plain values to a `Response`.
 * @example
 * ```ts
 * import { toResponse } from 'petstore-kit'
 *
 * const response = toResponse({ status: 200, headers: ['Content-Type', 'application/json'], body: '[]' })
 * console.log(response.status) // 200
 * ```
 */
export function toResponse({ status, headers, body }: ApiResponse): Response {
  // An object is faster than pairs on every runtime, and Hono passes it to Node unchanged. But an
  // object cannot repeat a name.
  const object: Record<string, string> = {}
  let isRepeated = false
  let hasType = false
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string
    isRepeated ||= name in object
    hasType ||= name.toLowerCase() === 'content-type'
    object[name] = headers[i + 1] as string
  }
  const response = new Response(body === '' ? null : body, { status, headers: isRepeated ? pairsOf(headers) : object })
  // `new Response(text)` has set `text/plain`. Read `headers` only if needed, because Deno creates
  // them at the first read.
  if (!hasType) response.headers.delete('Content-Type')
  return response
}

export function pairsOf(headers: readonly string[]): [name: string, value: string][] {
  return headers.flatMap((name, i) => (i % 2 === 0 ? [[name, headers[i + 1] as string]] : []))
}

/**
 * A response that shares its array of headers with no other response, so headers can be added to
 * the array.
 */
export interface OwnResponse extends ApiResponse {
  readonly headers: string[]
  readonly code?: PetStoreErrorCode
}

export function errorResponse(code: ErrorCode, headers?: readonly string[], message?: string): OwnResponse {
  const { status, message: defaultMessage } = errorTable[code]
  return responseOf({ code, message: message ?? defaultMessage, status }, headers)
}

/** The `Retry-After` of a 503, in seconds. */
const RETRY_AFTER = '5'

/** Returns a 503, after which clients wait and repeat the request. */
export function unavailable(message?: string): OwnResponse {
  return errorResponse('service_unavailable', ['Retry-After', RETRY_AFTER], message)
}

/** Returns a response with the three members of an error, whose code may be one of the host. */
export function responseOf(
  { code, message, status }: { code: PetStoreErrorCode; message: string; status: number },
  headers?: readonly string[],
): OwnResponse {
  return { ...jsonResponse(status, JSON.stringify({ code, message, status }), headers), code }
}

/** Returns a JSON response, which caches must not store, because it is for one API key. */
export function jsonResponse(status: number, body: string, headers: readonly string[] = []): OwnResponse {
  return { status, headers: ['Content-Type', 'application/json', 'Cache-Control', 'no-store', ...headers], body }
}

/**
 * Returns the response to HEAD: no body, but the `Content-Length` of the response to GET (RFC 9110,
 * section 8.6).
 */
export function headResponse({ status, headers, body }: OwnResponse): ApiResponse {
  const length = new TextEncoder().encode(body).length
  return { status, headers: [...headers, 'Content-Length', String(length)], body: '' }
}
