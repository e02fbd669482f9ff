import { isErrorCode, PetStoreError } from '../errors.ts'
import type { Clock } from '../ports.ts'
import { describeValue } from '../support/describe-value.ts'
import { readableText } from '../support/readable-text.ts'
import { isUrl } from '../support/text.ts'
import { LAST_TIME } from '../support/time.ts'
import { parseJsonIfValid } from './json.ts'
import { readRetryAfter, serverTime } from './response-headers.ts'

/** How much of a response an error message quotes, in UTF-16 code units. */
const MAX_QUOTE = 199

/**
 * The statuses that a proxy sends while its server is down, or a service while its back end is
 * down.
 */
const UNAVAILABLE = [502, 503, 504]

/**
 * Returns the error for a response whose status is not 2xx. Masks the API key, which a server may
 * have sent back.
 */
export function responseError(response: Response, body: Uint8Array, clock: Clock, apiKey: string): PetStoreError {
  const { status } = response
  const retryAfter = readRetryAfter(response.headers.get('Retry-After'), serverTime(response.headers, clock.now()))
  const options = { status, retryAfter }
  const { code, message } = Object(parseJsonIfValid(body)) as Record<string, unknown>
  const shown = typeof message === 'string' ? readableText(message, MAX_QUOTE, [apiKey]) : undefined
  if (isErrorCode(code)) return new PetStoreError(code, shown, options)
  const unavailable = UNAVAILABLE.includes(status) ? 'service_unavailable' : 'unexpected_response'
  const page = new TextDecoder().decode(body).trim()
  const text = `expected an error of the pet store, got status ${status}${page && ` and ${quoted(page, apiKey)}`}`
  return new PetStoreError(status === 429 ? 'rate_limit_exceeded' : unavailable, text, options)
}

/**
 * Returns the error for a redirect. Browsers hide its status and target. A `fetch` of the caller
 * may have followed it.
 */
export function redirectError(response: Response, url: string, apiKey: string): PetStoreError | undefined {
  const { status, type, redirected, headers } = response
  if (type !== 'opaqueredirect' && !redirected && (status < 300 || status > 399)) return undefined
  response.body?.cancel().catch(() => {})
  const target = redirected ? response.url : withoutCredentials(headers.get('Location'), url)
  const where = target === null ? 'an unknown URL' : quoted(target, apiKey)
  return new PetStoreError(
    'unexpected_response',
    `${url}: expected a response of the pet store, got a redirect to ${where}. ` +
      'The client follows no redirect, because that could send the API key to another server: correct baseUrl.',
    { status },
  )
}

function withoutCredentials(location: string | null, url: string): string | null {
  if (location === null || !isUrl(location, url)) return location
  return Object.assign(new URL(location, url), { username: '', password: '' }).href
}

export function networkError(request: string, cause: unknown, apiKey: string): PetStoreError {
  const reason = readableText(reasonOf(cause), MAX_QUOTE, [apiKey]).replace(/\.?$/, '.')
  const message = `${request}: no response arrived: ${reason}`
  return new PetStoreError('network_error', message, { status: 0, cause })
}

/**
 * Returns the messages of an error and its causes, because the error of Node's `fetch` only says
 * "fetch failed".
 */
function reasonOf(error: unknown, depth = 0): string {
  // `describeValue` would cut a string, perhaps in the middle of an API key, and half a key is not
  // masked.
  if (!(error instanceof Error)) return typeof error === 'string' ? error : describeValue(error)
  const { message, cause, code } = error as Error & { code?: unknown }
  // An AggregateError has an empty message if each IP address of a host name refuses the
  // connection.
  const reason = message || String(code ?? error.name)
  return cause === undefined || depth === 3 ? reason : `${reason}: ${reasonOf(cause, depth + 1)}`
}

/**
 * Returns whether a request may succeed later. Some servers send 409 while another request with the
 * same idempotency key runs.
 */
export function isTransient({ code, status = 0 }: PetStoreError): boolean {
  return code === 'network_error' || [409, 429, ...UNAVAILABLE].includes(status)
}

/**
 * Returns the error of a call that would wait too long.
 * @param error - the reason for the wait, perhaps an error of another call
 * @param wait - how long the server has asked to wait from now on, in milliseconds; not positive if
 * that time has ended
 */
export function gaveUp(error: PetStoreError, wait: number, clock: Clock): PetStoreError {
  const { code, message, status, cause } = error
  if (!error.retryAfter || wait <= 0)
    return new PetStoreError(code, `${message} The call gave up after retry.maxElapsed.`, { status, cause })
  const time = new Date(Math.min(clock.now() + Math.ceil(wait), LAST_TIME)).toISOString()
  const text = `${message} The server asked to wait until ${time}, which is longer than retry.maxElapsed.`
  return new PetStoreError(code, text, { status, cause, retryAfter: Math.ceil(wait / 1000) })
}

/** Returns the error for a 2xx response that the API does not describe. */
export function unexpectedResponse({ status }: { status: number }, what: string): PetStoreError {
  const message = `expected ${what} with status ${status}, got something else: check that baseUrl belongs to a pet store`
  return new PetStoreError('unexpected_response', message, { status })
}

function quoted(text: string, apiKey: string): string {
  return `"${readableText(text, MAX_QUOTE, [apiKey])}"`
}
