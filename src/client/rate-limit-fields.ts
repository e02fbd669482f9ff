import type { RateLimit } from '../model.ts'
import type { ResponseHeaders } from './response.ts'

/** The rate limits of both windows. */
export interface RateLimitWindows {
  /** The UTC minute. `undefined` if the server does not send the header `RateLimit`. */
  readonly minute?: RateLimit | undefined
  /** The UTC day. `undefined` if the server does not send the header `RateLimit`. */
  readonly day?: RateLimit | undefined
}

/**
 * Reads `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-11). A window is
 * `undefined` if one of its numbers is missing or malformed.
 * @param serverTime - the time of the response, to which the seconds in `RateLimit` are added
 */
export function readRateLimitWindows(headers: ResponseHeaders, serverTime: number): RateLimitWindows {
  const policies = readItems(headers.get('RateLimit-Policy'))
  const limits = readItems(headers.get('RateLimit'))
  // `t` is rounded up. Without the milliseconds, the sum is the whole second in which the window ends.
  const now = Math.floor(serverTime / 1000)
  const windowOf = (name: keyof RateLimitWindows): RateLimit | undefined => {
    const limit = policies.get(name)?.get('q')
    const remaining = limits.get(name)?.get('r')
    const seconds = limits.get(name)?.get('t')
    if (limit === undefined || remaining === undefined || seconds === undefined) return undefined
    return { limit, remaining, resetsAt: (now + seconds) * 1000 }
  }
  return { minute: windowOf('minute'), day: windowOf('day') }
}

/** Matches a name in quotes, and its parameters. */
const ITEM = /"([^"\\]*)"((?:;[^";,]*(?:"[^"\\]*")?)*)/g
/** Matches a parameter, such as `;q=60` or `;qu="requests"`. */
const PARAMETER = /;\s*([a-z\d_.*-]+)=("[^"]*"|[^";,\s]*)/g
/** An integer of a structured field that is not negative (RFC 9651, section 3.3.1). */
const INTEGER = /^\d{1,15}$/

/** Reads the integers in a list of named items (RFC 9651), such as `"minute";r=59;t=30, "day";r=999`. */
function readItems(value: string | null): Map<string, ReadonlyMap<string, number>> {
  const items = new Map<string, ReadonlyMap<string, number>>()
  for (const [, name = '', parameters = ''] of (value ?? '').matchAll(ITEM)) {
    const pairs = [...parameters.matchAll(PARAMETER)].filter(([, , text = '']) => INTEGER.test(text))
    items.set(name, new Map(pairs.map(([, parameter = '', text]) => [parameter, Number(text)])))
  }
  return items
}
