import type { QuotaRequest } from '../../../src/index.ts'

/** How many milliseconds a counter stays stored after its window has ended. If the clock is set back, the limit still applies. */
export const KEPT_FOR = 2 * 86_400_000

/** The number of hash buckets for anonymous clients. */
export const BUCKETS = 256
/** The largest number of anonymous clients in one bucket. All buckets together hold about 10,240 clients at most. */
export const BUCKET_SIZE = 40

/** Returns the bucket of an anonymous client: an FNV-1a hash of the subject. */
export function bucketOf(subject: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < subject.length; i++) hash = Math.imul(hash ^ subject.charCodeAt(i), 0x01000193)
  return (hash >>> 0) % BUCKETS
}

/** Returns the limits and the ban rule of a request, in the order of the parameters of each engine's counting. */
export function rulesOf({ limits, ban }: QuotaRequest): (number | null)[] {
  const rule = ban === false ? [null, null] : [ban.afterRefusals, ban.seconds * 1000]
  return [limits.perMinute, limits.perDay, ...rule]
}
