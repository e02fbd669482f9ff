import { BUCKET_SIZE } from '../shared/anonymous-buckets.ts'

/** How many milliseconds a counter stays stored after its window has ended. If the clock is set back, the limit still applies. */
const KEPT_FOR = 2 * 86_400_000
/** After this many transactions, a limited number of ended counters is removed, so that no request waits long. */
export const PRUNE_EVERY = 50
const PRUNED_AT_ONCE = 500

/** Returns the statement that removes ended counters. `now` is SQL for the time. */
export function pruneStatement(now: string): string {
  return `DELETE FROM petstore_quota WHERE subject IN
    (SELECT subject FROM petstore_quota WHERE ends_at < ${now} - ${KEPT_FOR} ORDER BY ends_at LIMIT ${PRUNED_AT_ONCE})`
}

/** The statements that limit the size of the table of counters. */
export const quotaStatements = {
  prune: pruneStatement('?'),
  // A full bucket keeps the clients with the most requests, so clients over their limit are removed last.
  makeRoom: `DELETE FROM petstore_quota WHERE subject IN (SELECT subject FROM petstore_quota WHERE bucket = ?
    ORDER BY json_extract(state, '$.dayEndsAt') DESC, json_extract(state, '$.usedInDay') DESC
    LIMIT -1 OFFSET ${BUCKET_SIZE - 1})`,
} as const
