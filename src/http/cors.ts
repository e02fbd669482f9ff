import { invalidOption } from '../schemas/options.ts'
import { isOrigin } from '../schemas/origin.ts'
import type { ApiRequest } from './request.ts'
import { REQUEST_ID_HEADER } from './request-id.ts'
import type { OwnResponse } from './response.ts'
import type { Route } from './routes.ts'

/** The option `cors` of `createPetStore`. */
export interface CorsOptions {
  /**
   * The origins that may read responses: `*` for all, a list such as `['https://shop.example']`, or a
   * function that returns whether an origin may.
   *
   * In a list, a `*` stands for one or more characters of one label, as in
   * `https://pr-*.preview.shop.example`. The last two labels have none. A function gets only well-formed
   * origins. If it throws or returns a promise, the origin is refused, and `onError` gets the error.
   * @default '*'
   */
  readonly origins?: '*' | readonly string[] | ((origin: string) => boolean) | undefined
  /**
   * Whether pages of these origins may send requests with cookies (`credentials: 'include'`).
   * Needed only if middleware of the host turns a cookie into an API key. Needs a function, or a list
   * without wildcards, because each of these pages acts with the keys of your users.
   * @default false
   */
  readonly credentials?: boolean | undefined
  /**
   * The request headers that web pages may send, such as `traceparent`, in addition to those of the
   * API.
   * @default []
   */
  readonly headers?: readonly string[] | undefined
  /** How long a browser may cache the response to a preflight, in seconds. @default 600 */
  readonly maxAgeSeconds?: number | undefined
}

type CorsRules = Exclude<ReturnType<typeof corsRules>, false>

/** The options of the store that add headers to each response. */
interface HeaderOptions {
  readonly requestId?: boolean
  readonly standardRateLimitHeaders?: boolean
}

export function corsRules(
  cors: boolean | CorsOptions,
  { requestId = false, standardRateLimitHeaders = false }: HeaderOptions = {},
) {
  if (cors === false) return false
  // If `cors` is `true`, it has no members, so each member gets its default.
  const { origins = '*', credentials = false, headers = [], maxAgeSeconds = 600 } = cors as CorsOptions
  const hasWildcard = Array.isArray(origins) && origins.some((origin) => origin.includes('*'))
  if (credentials && (origins === '*' || hasWildcard))
    throw invalidOption('cors.origins', 'a list without "*" or a function, because credentials is true', origins)
  const rateLimitHeaders = standardRateLimitHeaders ? ['RateLimit-Policy', 'RateLimit'] : []
  const ofRequestId = requestId ? [REQUEST_ID_HEADER] : []
  return {
    origins,
    isAllowed: allowing(origins),
    credentials,
    exposedHeaders: [...EXPOSED_HEADERS, ...rateLimitHeaders, ...ofRequestId].join(', '),
    allowedHeaders: ['Authorization', 'Content-Type', 'Idempotency-Key', ...ofRequestId, ...headers].join(', '),
    maxAgeSeconds,
  }
}

/** Returns a function that returns whether an origin may read responses. It may throw. */
function allowing(origins: NonNullable<CorsOptions['origins']>): (origin: string) => boolean {
  if (origins === '*') return () => true
  if (typeof origins === 'function') return (origin) => isOrigin(origin) && resultOf(origins, origin)
  const patterns = origins.map((origin) => origin.split('.').map(labelPattern))
  return (origin) => {
    const labels = origin.split('.')
    return patterns.some(
      (pattern) => pattern.length === labels.length && pattern.every((matches, i) => matches(labels[i] ?? '')),
    )
  }
}

/** Calls the function of the host. @throws {PetStoreError} `invalid_option` for a promise */
function resultOf(isAllowed: (origin: string) => unknown, origin: string): boolean {
  const result = isAllowed(origin)
  if (typeof result === 'boolean') return result
  // Otherwise, a rejected promise would end the process.
  Promise.resolve(result).catch(() => {})
  throw invalidOption('cors.origins', 'a function that returns true or false at once, not a promise', result)
}

/** Matches the text that a `*` stands for. Browsers send no other characters in a label. */
const WILDCARD = /^[a-z\d_-]+$/

/**
 * Returns whether a part of an origin between two dots matches, such as `https://pr-7` for
 * `https://pr-*`.
 */
function labelPattern(pattern: string): (label: string) => boolean {
  const [start = '', end] = pattern.split('*')
  if (end === undefined) return (label) => label === pattern
  return (label) => {
    const middle = label.slice(start.length, label.length - end.length)
    return label.startsWith(start) && label.endsWith(end) && WILDCARD.test(middle)
  }
}

const EXPOSED_HEADERS = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'Retry-After',
  'Link',
  'X-Next-Cursor',
  'Location',
  'Idempotency-Replayed',
  'Deprecation',
  'Sunset',
]

/** Returns whether a request is a CORS preflight (Fetch standard). */
export function isPreflight(request: ApiRequest): boolean {
  return (
    request.method === 'OPTIONS' &&
    request.header('origin') !== undefined &&
    request.header('access-control-request-method') !== undefined
  )
}

/**
 * Responds to a preflight without an API key, because browsers send preflights without credentials.
 */
export function preflightResponse({ allowedHeaders, maxAgeSeconds }: CorsRules, route: Route): OwnResponse {
  const allow = 'allow' in route ? route.allow : 'OPTIONS'
  const values = {
    Allow: allow,
    'Access-Control-Allow-Methods': allow,
    'Access-Control-Allow-Headers': allowedHeaders,
    'Access-Control-Max-Age': String(maxAgeSeconds),
  }
  return { status: 204, headers: Object.entries(values).flat(), body: '' }
}

/** @param onFailure - called if the function `origins` throws or returns a promise */
export function addCorsHeaders(
  headers: string[],
  cors: CorsRules,
  request: ApiRequest,
  onFailure: (error: unknown) => void,
): void {
  // Caches need it on every response, also to a request without an origin, or of a refused one.
  if (cors.origins !== '*') headers.push('Vary', 'Origin')
  const allowed = cors.origins === '*' ? '*' : allowedOrigin(cors, request.header('origin'), onFailure)
  if (allowed === undefined) return
  headers.push('Access-Control-Allow-Origin', allowed, 'Access-Control-Expose-Headers', cors.exposedHeaders)
  if (cors.credentials) headers.push('Access-Control-Allow-Credentials', 'true')
}

function allowedOrigin({ isAllowed }: CorsRules, sent: string | undefined, onFailure: (error: unknown) => void) {
  try {
    return sent !== undefined && isAllowed(sent) ? sent : undefined
  } catch (error) {
    onFailure(error)
    return undefined
  }
}
