import { countRequest, type QuotaState } from '../../../src/back-end.ts'
import type { QuotaRequest } from '../../../src/index.ts'
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

/**
 * The last requests of a subject, as a counter of PostgreSQL or D1 keeps them. All of them had the
 * same time and limits.
 */
export interface LastRequests {
  readonly requests: number
  readonly countedAt: number
  readonly perMinute: number
  readonly perDay: number
  /** `null` for no bans. */
  readonly afterRefusals: number | null
  /** In milliseconds. */
  readonly banLength: number | null
}

/** Counts the last requests of a subject in `state`, which is the state before them. */
export function countLast(state: QuotaState, last: LastRequests): void {
  const { perMinute, perDay, afterRefusals, banLength, countedAt } = last
  const ban = afterRefusals === null ? (false as const) : { afterRefusals, seconds: (banLength ?? 0) / 1_000 }
  for (let i = 0; i < last.requests; i++) countRequest(state, { limits: { perMinute, perDay }, ban, now: countedAt })
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
