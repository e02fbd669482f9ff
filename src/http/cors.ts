import { invalidOption } from '../schemas/options.ts'
import type { ApiRequest } from './request.ts'
import type { OwnResponse } from './response.ts'
import type { Route } from './routes.ts'

/** The option `cors` of `createPetStore`. */
export interface CorsOptions {
  /**
   * The origins that may read responses, such as `https://shop.example`, or `*` for all.
   * @default '*'
   */
  readonly origins?: '*' | readonly string[] | undefined
  /**
   * Whether pages of these origins may send requests with cookies (`credentials: 'include'`).
   * Needed only if middleware of the host turns a cookie into an API key. Needs a list of origins,
   * because browsers reject `*` together with credentials.
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

export function corsRules(cors: boolean | CorsOptions) {
  if (cors === false) return false
  // If `cors` is `true`, it has no members, so each member gets its default.
  const { origins = '*', credentials = false, headers = [], maxAgeSeconds = 600 } = cors as CorsOptions
  if (credentials && origins === '*')
    throw invalidOption('cors.origins', 'a list of origins, because credentials is true', origins)
  return { origins, credentials, headers, maxAgeSeconds }
}

const EXPOSED_HEADERS =
  'X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, ' +
  'Link, X-Next-Cursor, Location, Idempotency-Replayed, Deprecation, Sunset'

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
export function preflightResponse({ headers, maxAgeSeconds }: CorsRules, route: Route): OwnResponse {
  const allow = 'allow' in route ? route.allow : 'OPTIONS'
  const values = {
    Allow: allow,
    'Access-Control-Allow-Methods': allow,
    'Access-Control-Allow-Headers': ['Authorization', 'Content-Type', 'Idempotency-Key', ...headers].join(', '),
    'Access-Control-Max-Age': String(maxAgeSeconds),
  }
  return { status: 204, headers: Object.entries(values).flat(), body: '' }
}

export function addCorsHeaders(headers: string[], { origins, credentials }: CorsRules, request: ApiRequest): void {
  const sent = request.header('origin')
  const allowed = origins === '*' ? '*' : origins.find((origin) => origin === sent)
  if (origins !== '*') headers.push('Vary', 'Origin')
  if (allowed === undefined) return
  headers.push('Access-Control-Allow-Origin', allowed, 'Access-Control-Expose-Headers', EXPOSED_HEADERS)
  if (credentials) headers.push('Access-Control-Allow-Credentials', 'true')
}
