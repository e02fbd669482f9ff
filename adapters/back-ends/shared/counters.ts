import type { QuotaRequest } from '../../../src/index.ts'
import { hexDigest } from '../../../src/support/hex-digest.ts'

/** How many milliseconds a counter stays stored after its window has ended. If the clock is set back, the limit still applies. */
export const KEPT_FOR = 2 * 86_400_000

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

const PLAIN_LENGTH = 200
const HASHED = 'sha256:'

/**
 * Returns the text under which a database stores a subject. A subject that is too long for an index, or contains U+0000 or a lone
 * surrogate, is replaced by its hash.
 */
export function subjectName(subject: string): string | Promise<string> {
  const isPlain =
    subject.length <= PLAIN_LENGTH &&
    !subject.startsWith(HASHED) &&
    !subject.includes('\u0000') &&
    subject.isWellFormed()
  return isPlain ? subject : hashed(subject)
}

async function hashed(subject: string): Promise<string> {
  // `Uint16Array.from(subject)` would drop the second half of each surrogate pair.
  const units = Uint16Array.from({ length: subject.length }, (_, index) => subject.charCodeAt(index))
  return HASHED + (await hexDigest('SHA-256', units))
}
