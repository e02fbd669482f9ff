import type { LoggedRequest } from '../request-log.ts'

/** The remaining requests before and after a request, in the window that the response headers describe. */
export interface Cost {
  readonly limit: number
  readonly before: number
  readonly after: number
  /** When the window ends, in milliseconds since the Unix epoch. */
  readonly resetsAt: number
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
  const numberIn = (name: string) => Number(headerOf(request, name) ?? Number.NaN)
  const limit = numberIn('X-RateLimit-Limit')
  const after = numberIn('X-RateLimit-Remaining')
  const reset = numberIn('X-RateLimit-Reset')
  if (!Number.isFinite(limit + after + reset)) return undefined
  // A 429 is not counted. If the whole limit remains after the request, the request was not counted either.
  const isFree = request.status === 429 || after === limit
  return { limit, before: isFree ? after : after + 1, after, resetsAt: reset * 1_000 }
}

/** Returns a text such as `60 → 59 of 60`. */
export function costText({ limit, before, after }: Cost): string {
  const counts = [before, after].map((count) => count.toLocaleString('en'))
  const change = before === after ? `${counts[1]} left` : counts.join(' → ')
  return `${change} of ${limit.toLocaleString('en')}`
}
