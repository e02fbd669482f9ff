import { type ErrorCode, isErrorCode, PetStoreError } from '../errors.ts'
import type { Clock } from '../ports.ts'
import { parseJson } from './parse-json.ts'

/** The longest part of an unexpected body that an error message quotes, in UTF-16 code units. */
const MAX_QUOTE = 100

/** Error codes by status, for responses without a code of the API, such as those of a proxy. */
const CODE_BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  429: 'rate_limit_exceeded',
  502: 'service_unavailable',
  503: 'service_unavailable',
  504: 'service_unavailable',
}

/** Returns the error for a response whose status is not 2xx. */
export function responseError(response: Response, body: Uint8Array, clock: Clock): PetStoreError {
  const { status } = response
  const retryAfter = readRetryAfter(response.headers.get('Retry-After'), clock)
  const { code, message } = readError(body)
  if (isErrorCode(code)) return new PetStoreError(code, message, { status, retryAfter })
  const known = CODE_BY_STATUS[status] ?? 'unexpected_response'
  return new PetStoreError(known, `expected an error of the pet store, got status ${status}${quote(body)}`, {
    status,
    retryAfter,
  })
}

/** Returns the error for a 2xx response whose body or headers are not as the API describes them. */
export function unexpectedResponse({ status }: Response, what: string, cause?: unknown): PetStoreError {
  return new PetStoreError('unexpected_response', `expected ${what} with status ${status}, got something else`, {
    status,
    cause,
  })
}

function readError(body: Uint8Array): { readonly code?: unknown; readonly message?: string | undefined } {
  try {
    const { code, message } = Object(parseJson(body)) as Record<string, unknown>
    return { code, message: typeof message === 'string' ? message : undefined }
  } catch {
    return {}
  }
}

/** Reads `Retry-After`: seconds or a date (RFC 9110, section 10.2.3). Returns seconds, or `undefined` for neither. */
export function readRetryAfter(value: string | null, clock: Clock): number | undefined {
  if (value === null) return undefined
  if (/^\d+$/.test(value)) return Number(value)
  const seconds = Math.ceil((Date.parse(value) - clock.now()) / 1000)
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds)
}

function quote(body: Uint8Array): string {
  const text = new TextDecoder().decode(body).trim()
  if (text === '') return ''
  return ` and ${JSON.stringify(text.length > MAX_QUOTE ? `${text.slice(0, MAX_QUOTE)}…` : text)}`
}
