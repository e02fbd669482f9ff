/** The rate limit in the headers of a response. */
export interface RateLimit {
  /** The largest number of requests in the current window. */
  readonly limit: number
  /** The requests that remain in the current window. */
  readonly remaining: number
  /** When the window ends, in milliseconds since the Unix epoch. */
  readonly resetsAt: number
}

/** Reads the rate-limit headers. Returns `undefined` if one is missing or not a number, as in the response of a proxy. */
export function readRateLimit(headers: Headers): RateLimit | undefined {
  const values = ['Limit', 'Remaining', 'Reset'].map((name) => headers.get(`X-RateLimit-${name}`) ?? '')
  if (!values.every((value) => /^\d{1,15}$/.test(value))) return undefined
  const [limit = 0, remaining = 0, reset = 0] = values.map(Number)
  return { limit, remaining, resetsAt: reset * 1000 }
}
