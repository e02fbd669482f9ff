/** What the rate-limit headers of a response said. */
export interface RateLimit {
  /** The largest number of requests in the current window. */
  readonly limit: number
  /** The requests that remain in the current window. */
  readonly remaining: number
  /** When the window ends, in milliseconds since the Unix epoch. */
  readonly resetsAt: number
}

/** Returns what the rate-limit headers say, or `undefined` if a proxy has responded without them. */
export function readRateLimit(headers: Headers): RateLimit | undefined {
  const [limit, remaining, reset] = ['Limit', 'Remaining', 'Reset'].map((name) => headers.get(`X-RateLimit-${name}`))
  if (!limit || !remaining || !reset) return undefined
  return { limit: Number(limit), remaining: Number(remaining), resetsAt: Number(reset) * 1000 }
}
