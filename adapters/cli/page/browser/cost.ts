import type { RateLimit } from '../../../../src/model.ts'
import type { LoggedRequest } from '../request-log.ts'

/** The rate limit after a request, in the window that the response headers describe. */
export interface Cost extends RateLimit {
  /** The remaining requests before this request. */
  readonly before: number
}

export function headerOf(
  { responseHeaders }: Pick<LoggedRequest, 'responseHeaders'>,
  name: string,
): string | undefined {
  const index = responseHeaders.findIndex((text, i) => i % 2 === 0 && text.toLowerCase() === name.toLowerCase())
  return index === -1 ? undefined : responseHeaders[index + 1]
}

/** Returns `undefined` if the response has no rate-limit headers. */
export function costOf(request: Pick<LoggedRequest, 'status' | 'responseHeaders'>): Cost | undefined {
  const reset = headerOf(request, 'X-RateLimit-Reset')
  if (reset === undefined) return undefined
  const limit = Number(headerOf(request, 'X-RateLimit-Limit'))
  const remaining = Number(headerOf(request, 'X-RateLimit-Remaining'))
  // A 429 is not counted. A request was not counted either if the whole limit remains after it.
  const isFree = request.status === 429 || remaining === limit
  return { limit, remaining, resetsAt: Number(reset) * 1_000, before: isFree ? remaining : remaining + 1 }
}

/** Returns a text such as `60 → 59 of 60`. */
export function costText({ limit, before, remaining }: Cost): string {
  const counts = [before, remaining].map((count) => count.toLocaleString('en'))
  const change = before === remaining ? `${counts[1]} left` : counts.join(' → ')
  return `${change} of ${limit.toLocaleString('en')}`
}
