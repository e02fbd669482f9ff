/** The rate limit in the headers of a response. */
export interface RateLimit {
  /** The largest number of requests in the current window. */
  readonly limit: number
  /** The requests that remain in the current window. */
  readonly remaining: number
  /** When the window ends, in milliseconds since the Unix epoch. */
  readonly resetsAt: number
}

/** Reads the rate-limit headers. Returns `undefined` if one is missing, as in the response of a proxy. */
export function readRateLimit(headers: Headers): RateLimit | undefined {
  const [limit, remaining, reset] = ['Limit', 'Remaining', 'Reset'].map((name) => headers.get(`X-RateLimit-${name}`))
  if (!limit || !remaining || !reset) return undefined
  return { limit: Number(limit), remaining: Number(remaining), resetsAt: Number(reset) * 1000 }
}
