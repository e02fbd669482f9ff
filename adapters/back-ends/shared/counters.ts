import type { QuotaState } from '../../../src/back-end.ts'
import type { QuotaCount, QuotaRequest } from '../../../src/index.ts'
import { isStorable } from '../../../src/schemas/text.ts'
import { hexDigest } from '../../../src/support/hex-digest.ts'
import { DAY } from '../../../src/support/time.ts'

/**
 * How long a counter is kept after its window has ended, in milliseconds. A limit must still apply
 * if the clock is set back.
 */
export const KEPT_FOR = 2 * DAY

export const BUCKETS = 256
/**
 * The largest number of anonymous clients in one bucket. All buckets together hold 10,240 clients
 * at most.
 */
export const BUCKET_SIZE = 40

/**
 * Returns the bucket of an anonymous client: an FNV-1a hash of the subject, modulo the number of
 * buckets.
 */
export function bucketOf(subject: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < subject.length; i++) hash = Math.imul(hash ^ subject.charCodeAt(i), 0x01000193)
  return (hash >>> 0) % BUCKETS
}

/**
 * Returns the limits and the ban rule in the order in which the statements and scripts of all
 * engines expect them.
 */
export function rulesOf({ limits, ban }: QuotaRequest): (number | null)[] {
  const rule = ban === false ? [null, null] : [ban.afterRefusals, ban.seconds * 1000]
  return [limits.perMinute, limits.perDay, ...rule]
}

/** The counts of a subject after equal requests that were counted in one step. */
export interface CountedRequests extends QuotaState {
  /** The time at which the requests were counted. */
  readonly countedAt: number
  /** How many of the requests were granted: the first ones. */
  readonly lastGranted: number
  /** How many of them were refused before the refusal that began a ban; 0 if none began one. */
  readonly lastRefusedBeforeBan: number
}

/** Returns the count of each of `requests` equal requests, from the counts after all of them. */
export function countsOf(after: CountedRequests, { ban }: QuotaRequest, requests: number): QuotaCount[] {
  const { countedAt: now, lastGranted, lastRefusedBeforeBan, minuteEndsAt, dayEndsAt } = after
  return Array.from({ length: requests }, (_, index) => {
    const granted = index < lastGranted
    const later = Math.max(0, lastGranted - 1 - index)
    const isBanned = !granted && ban !== false && index - lastGranted >= lastRefusedBeforeBan
    return {
      granted,
      now,
      usedInMinute: after.usedInMinute - later,
      minuteEndsAt,
      usedInDay: after.usedInDay - later,
      dayEndsAt,
      bannedUntil: isBanned ? after.bannedUntil : 0,
    }
  })
}

const PLAIN_LENGTH = 200
const HASHED = 'sha256:'

/**
 * Replaces a subject by its hash if a database cannot store it: it is too long for an index, or has
 * U+0000 or a lone surrogate.
 */
export function subjectName(subject: string): string | Promise<string> {
  const isPlain = subject.length <= PLAIN_LENGTH && !subject.startsWith(HASHED) && isStorable(subject)
  return isPlain ? subject : hashed(subject)
}

async function hashed(subject: string): Promise<string> {
  // Hash every UTF-16 code unit: `Uint16Array.from(subject, …)` would take only the first of the
  // two units of an emoji.
  const units = Uint16Array.from({ length: subject.length }, (_, index) => subject.charCodeAt(index))
  return HASHED + (await hexDigest('SHA-256', units))
}
