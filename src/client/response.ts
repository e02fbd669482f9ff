import { isErrorCode, PetStoreError } from '../errors.ts'
import { readResponse } from '../http/body-bytes.ts'
import { readRequestId } from '../http/request-id.ts'
import type { RateLimit } from '../model.ts'
import { innermostMessage } from '../support/describe-value.ts'
import { readableText } from '../support/readable-text.ts'
import { parseJsonIfValid } from './json.ts'

export type ResponseHeaders = Pick<Headers, 'get'>

/** A response without its body. */
interface ResponseHead {
  readonly status: number
  readonly headers: ResponseHeaders
}

/** Reads a body up to a limit. React Native has no `Response.body`, and often no `TextDecoder`. */
export async function readBody(response: Response): Promise<string | Uint8Array> {
  return response.body ? readResponse(response) : response.text()
}

/**
 * Reads the rate-limit headers. Returns `undefined` if one is missing or not a number, as in the
 * response of a proxy.
 */
export function readRateLimit(headers: ResponseHeaders): RateLimit | undefined {
  const values = ['Limit', 'Remaining', 'Reset'].map((name) => headers.get(`X-RateLimit-${name}`) ?? '')
  if (!values.every((value) => /^\d{1,15}$/.test(value))) return undefined
  const [limit = 0, remaining = 0, reset = 0] = values.map(Number)
  return { limit, remaining, resetsAt: reset * 1000 }
}

/**
 * Matches a date in HTTP (RFC 9110, section 5.6.7). `Date.parse` alone would read "5" as a day of
 * 2001.
 */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/

function parseHttpDate(text: string | null): number {
  return text !== null && HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN
}

/** Returns the time in the header `Date`, or `now` without a valid one. */
export function serverTime(headers: ResponseHeaders, now: number): number {
  return parseHttpDate(headers.get('Date')) || now
}

/** About 300 years. A time after the year 275760 would be no valid `Date`. */
const LONGEST_WAIT_IN_SECONDS = 1e10

/**
 * Returns the seconds that `Retry-After` asks to wait; `undefined` unless it is a whole number or a
 * date (RFC 9110, section 10.2.3).
 * @param serverTime - the time of the response, to which a date is compared
 */
export function readRetryAfter(headers: ResponseHeaders, serverTime: number): number | undefined {
  const value = headers.get('Retry-After')
  if (value !== null && /^\d+$/.test(value)) return Math.min(Number(value), LONGEST_WAIT_IN_SECONDS)
  const seconds = Math.ceil((parseHttpDate(value) - serverTime) / 1000)
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds)
}

/** Returns the target of the link with a relation such as `next` (RFC 8288, section 3). */
export function linkTarget(headers: ResponseHeaders, relation: string): string | undefined {
  for (const link of (headers.get('Link') ?? '').split('<').slice(1)) {
    const [target, parameters = ''] = link.split('>', 2)
    for (const parameter of parameters.split(';')) {
      const [name = '', value = ''] = parameter.split('=', 2)
      const relations = value.toLowerCase().split(/[\s",]/)
      if (name.trim().toLowerCase() === 'rel' && relations.includes(relation)) return target
    }
  }
  return undefined
}

/**
 * Returns the cursor of the next page, or `undefined` on the last page. Ignores the rest of a link,
 * because its host may be another server.
 * @throws {PetStoreError} `unexpected_response` if the link has no cursor: otherwise, an iteration
 * would end although there are more pages
 */
export function nextCursor(response: ResponseHead): string | undefined {
  const { headers } = response
  const bare = headers.get('X-Next-Cursor')
  if (bare) return bare
  const target = linkTarget(headers, 'next')
  if (target === undefined) return undefined
  const [, cursor = ''] = /[?&]cursor=([^&#]+)/.exec(target) ?? []
  try {
    // An invalid escape such as `%zz` throws.
    if (cursor !== '') return decodeURIComponent(cursor)
  } catch {}
  throw unexpectedResponse(response, 'a Link to the next page with a cursor')
}

/** How much of a response an error message quotes, in UTF-16 code units. */
const MAX_QUOTE = 200

/**
 * The statuses that a proxy sends while its server is down, or a service while its back end is
 * down.
 */
const UNAVAILABLE = [502, 503, 504]

/**
 * Returns the error for a response whose status is not 2xx. Masks the API key, which a server may
 * have sent back.
 */
export function responseError(
  { status, headers }: Response,
  body: string | Uint8Array,
  apiKey: string,
  now: number,
): PetStoreError {
  const options = {
    status,
    retryAfterSeconds: readRetryAfter(headers, serverTime(headers, now)),
    requestId: readRequestId(headers),
  }
  const { code, message, status: stated } = Object(parseJsonIfValid(body)) as Record<string, unknown>
  const shown = typeof message === 'string' ? quotable(message, apiKey) : undefined
  // A key store may refuse a key with a code of its own. The page of a proxy has no such status.
  const isOwnCode = [401, 403].includes(status) && stated === BigInt(status) && typeof code === 'string'
  if (isErrorCode(code) || isOwnCode) return new PetStoreError(code, shown, options)
  const page = quotable((typeof body === 'string' ? body : new TextDecoder().decode(body)).trim(), apiKey)
  const text = `expected an error of the pet store, got status ${status}${page && ` and "${page}"`}`
  const kind = UNAVAILABLE.includes(status) ? 'service_unavailable' : 'unexpected_response'
  return new PetStoreError(status === 429 ? 'rate_limit_exceeded' : kind, text, options)
}

/**
 * Returns whether a response is a redirect, whose status browsers hide, or comes after one: React
 * Native follows redirects.
 */
export function isRedirect({ type, redirected, status }: Response): boolean {
  return type === 'opaqueredirect' || redirected || (status >= 300 && status <= 399)
}

/** Returns the error for a redirect, whose target browsers hide. */
export function redirectError(response: Response, url: string, apiKey: string): PetStoreError {
  const { status, headers, redirected } = response
  const where = redirectTarget(redirected ? response.url : headers.get('Location'), url)
  const message =
    `${url}: expected a response of the pet store, got a redirect to "${quotable(where, apiKey)}". The client follows no ` +
    'redirect, because that could send the API key to another server: correct baseUrl.'
  return new PetStoreError('unexpected_response', message, { status, requestId: readRequestId(headers) })
}

/** Returns a URL without credentials and query, which may be secret. */
function redirectTarget(location: string | null, base: string): string {
  if (location === null) return 'an unknown URL'
  try {
    const { origin, pathname } = new URL(location, base)
    return origin + pathname
  } catch {
    return 'an invalid URL'
  }
}

/** Returns the error for a request without a response. */
export function networkError(request: string, cause: unknown, apiKey: string): PetStoreError {
  // The error of Node's `fetch` only says "fetch failed".
  const reason = quotable(innermostMessage(cause), apiKey).replace(/\.?$/, '.')
  return new PetStoreError('network_error', `${request}: no response arrived: ${reason}`, { status: 0, cause })
}

/** Returns the error for a 2xx response that the API does not describe. */
export function unexpectedResponse({ status, headers }: ResponseHead, expected: string): PetStoreError {
  const message = `expected ${expected} with status ${status}, got something else: check that baseUrl belongs to a pet store`
  return new PetStoreError('unexpected_response', message, { status, requestId: readRequestId(headers) })
}

/**
 * Returns whether the same request may succeed later. Some servers send 409 while another request
 * with the same idempotency key runs.
 */
export function isTransient({ code, status = 0 }: PetStoreError): boolean {
  return code === 'network_error' || status === 409 || status === 429 || UNAVAILABLE.includes(status)
}

function quotable(text: string, apiKey: string): string {
  return readableText(text, MAX_QUOTE, [apiKey])
}
