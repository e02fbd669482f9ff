import type { ApiRequest } from './request.ts'
import type { ApiResponse } from './response.ts'
import type { Route } from './routes.ts'

/** The option `cors`. */
export interface CorsOptions {
  /** The origins that may read answers, such as `https://shop.example`, or `*` for all. @default '*' */
  readonly origins?: '*' | readonly string[] | undefined
  /** How long a browser may remember a preflight, in seconds. @default 600 */
  readonly maxAge?: number | undefined
}

/** The option `cors` with nothing left open. */
interface CorsRules {
  readonly origins: '*' | readonly string[]
  readonly maxAge: number
}

/** Fills in what the option leaves open. */
export function corsRules({ origins = '*', maxAge = 600 }: CorsOptions): CorsRules {
  return { origins, maxAge }
}

const EXPOSED = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'Retry-After',
  'Link',
  'Deprecation',
  'Sunset',
].join(', ')

/** Whether a request is a preflight of the Fetch standard. */
export function isPreflight(request: ApiRequest): boolean {
  return (
    request.method === 'OPTIONS' &&
    request.header('origin') !== undefined &&
    request.header('access-control-request-method') !== undefined
  )
}

/** Answers a preflight, which browsers send without credentials. */
export function preflight(rules: CorsRules, route: Route): ApiResponse {
  const allow = 'allow' in route ? route.allow : 'OPTIONS'
  return {
    status: 204,
    headers: [
      'Allow',
      allow,
      'Access-Control-Allow-Methods',
      allow,
      'Access-Control-Allow-Headers',
      'Authorization, Content-Type',
      'Access-Control-Max-Age',
      String(rules.maxAge),
    ],
    body: '',
  }
}

/** Adds what lets a page of an allowed origin read the answer and its headers. */
export function addCorsHeaders(headers: string[], rules: CorsRules, request: ApiRequest): void {
  const origin = request.header('origin')
  if (rules.origins !== '*') headers.push('Vary', 'Origin')
  if (rules.origins === '*') headers.push('Access-Control-Allow-Origin', '*')
  else if (origin !== undefined && rules.origins.includes(origin)) headers.push('Access-Control-Allow-Origin', origin)
  else return
  headers.push('Access-Control-Expose-Headers', EXPOSED)
}
