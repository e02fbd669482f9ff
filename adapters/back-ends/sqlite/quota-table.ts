import { BUCKET_SIZE } from '../shared/anonymous-buckets.ts'

/** How long a count is kept after its end, in milliseconds, so that no limit is lifted early after the clock steps back. */
const KEPT_FOR = 2 * 86_400_000
/** After this many transactions, a limited number of ended counts is removed, so that no request waits long. */
export const PRUNE_EVERY = 50
const PRUNED_AT_ONCE = 500

/** The statements that keep the table of counts small. */
export const quotaStatements = {
  prune: `DELETE FROM petstore_quota WHERE subject IN
    (SELECT subject FROM petstore_quota WHERE ends_at < ? ORDER BY ends_at LIMIT ${PRUNED_AT_ONCE})`,
  // A full bucket keeps the clients with the most requests, so that refused clients are the last to be forgotten.
  makeRoom: `DELETE FROM petstore_quota WHERE subject IN (SELECT subject FROM petstore_quota WHERE bucket = ?
    ORDER BY json_extract(state, '$.dayEndsAt') DESC, json_extract(state, '$.usedInDay') DESC
    LIMIT -1 OFFSET ${BUCKET_SIZE - 1})`,
} as const

/** Returns the value of `prune`: counts that ended before this time are removed. */
export function prunedBefore(now: number): number {
  return now - KEPT_FOR
}
