import { BUCKET_SIZE } from '../shared/anonymous-buckets.ts'
import { dollarQuoted, type Names } from './names.ts'

// These PostgreSQL functions do the same steps as `countRequest`. PostgreSQL plans a function once per connection. PostgreSQL
// would plan a statement again for every request, and planning takes several times as long as counting. If two requests of one
// subject arrive together, the second waits for the first, and reads the time after the wait.

/** SQL for the parameters of the functions. The ban rule is null for no bans, and `at` is null for PostgreSQL's time. */
const PARAMETERS = `per_minute double precision, per_day double precision,
      after_refusals double precision, ban_length double precision, at double precision`

/** Returns SQL that creates the function that counts one request of a client with a key. */
export function spendFunction({ spend, quota }: Names): string {
  return `
    CREATE FUNCTION ${spend}(
      who text, ${PARAMETERS},
      OUT granted boolean, OUT decided_at double precision, OUT state ${quota}
    ) LANGUAGE plpgsql AS ${dollarQuoted(customerBody(quota), 'spend')};`
}

/**
 * Returns SQL that creates the function that counts one request of an anonymous client. If a bucket is full, a new client
 * replaces a client whose day has ended, otherwise the client with the fewest requests. So clients over their limit are replaced
 * last.
 */
export function spendAnonymousFunction({ spendAnonymous, anonymous }: Names): string {
  return `
    CREATE FUNCTION ${spendAnonymous}(
      in_bucket int, who text, ${PARAMETERS},
      OUT granted boolean, OUT decided_at double precision, OUT state ${anonymous}
    ) LANGUAGE plpgsql AS ${dollarQuoted(anonymousBody(anonymous), 'spend_anonymous')};`
}

function customerBody(quota: string): string {
  return `
    DECLARE
      banned boolean := false;
    BEGIN
      ${lockCustomer(quota)}
      ${decide}
      ${law}
      ${saveCustomer(quota)}
    END
    `
}

function anonymousBody(anonymous: string): string {
  return `
    DECLARE
      banned boolean := false;
    BEGIN
      ${lockAnonymous(anonymous)}
      ${decide}
      ${law}
      ${saveAnonymous(anonymous)}
    END
    `
}

/** Returns SQL that reads and locks the row of a client with a key. Adds the row if it is missing. */
export function lockCustomer(quota: string): string {
  return `LOOP
        SELECT q.* INTO state FROM ${quota} AS q WHERE q.subject = who FOR NO KEY UPDATE;
        EXIT WHEN FOUND;
        INSERT INTO ${quota} VALUES (who, 0, 0, 0, 0, 0, 0) ON CONFLICT DO NOTHING;
      END LOOP;`
}

/** Returns SQL that locks the row of an anonymous client. Adds a missing row; if the bucket is full, removes another row. */
export function lockAnonymous(anonymous: string): string {
  return `LOOP
        SELECT a.* INTO state FROM ${anonymous} AS a WHERE a.bucket = in_bucket AND a.subject = who FOR NO KEY UPDATE;
        EXIT WHEN FOUND;
        DELETE FROM ${anonymous} AS a WHERE a.bucket = in_bucket AND a.subject IN (
          SELECT b.subject FROM ${anonymous} AS b WHERE b.bucket = in_bucket
          ORDER BY b.day_ends_at DESC, b.used_in_day DESC OFFSET ${BUCKET_SIZE - 1} FOR UPDATE SKIP LOCKED);
        INSERT INTO ${anonymous} VALUES (who, 0, 0, 0, 0, 0, 0, in_bucket) ON CONFLICT DO NOTHING;
      END LOOP;`
}

/** Returns SQL that writes the row of a client with a key. */
export function saveCustomer(quota: string): string {
  return `UPDATE ${quota} AS q SET ${assignments} WHERE q.subject = who;`
}

/** Returns SQL that writes the row of an anonymous client. */
export function saveAnonymous(anonymous: string): string {
  return `UPDATE ${anonymous} AS a SET ${assignments} WHERE a.bucket = in_bucket AND a.subject = who;`
}

/** SQL that reads the time. It runs after the row is locked. */
export const decide = `decided_at := coalesce(at, floor(date_part('epoch', clock_timestamp()) * 1000));`

/** SQL that counts one request in the row that was read. */
export const law = `${roll('minute', 60_000, 'state.refused_in_minute := 0;')}
      ${roll('day', 86_400_000)}
      IF after_refusals IS NOT NULL THEN
        state.banned_until := CASE WHEN decided_at >= state.banned_until THEN 0
          ELSE least(state.banned_until, decided_at + ban_length) END;
        banned := state.banned_until <> 0;
      END IF;
      granted := NOT banned AND state.used_in_minute < per_minute AND state.used_in_day < per_day;
      IF granted THEN
        state.used_in_minute := state.used_in_minute + 1;
        state.used_in_day := state.used_in_day + 1;
      ELSIF after_refusals IS NOT NULL AND NOT banned THEN
        state.refused_in_minute := state.refused_in_minute + 1;
        IF state.refused_in_minute >= after_refusals THEN
          state.banned_until := decided_at + ban_length;
          state.refused_in_minute := 0;
        END IF;
      END IF;`

const assignments = `used_in_minute = state.used_in_minute, minute_ends_at = state.minute_ends_at,
        used_in_day = state.used_in_day, day_ends_at = state.day_ends_at,
        refused_in_minute = state.refused_in_minute, banned_until = state.banned_until`

/** Returns SQL that begins a new window if the old one has ended. After the clock is set back, no window is longer than usual. */
function roll(window: 'minute' | 'day', length: number, also = ''): string {
  const [used, end] = [`state.used_in_${window}`, `state.${window}_ends_at`]
  return `IF decided_at >= ${end} THEN
        ${end} := (floor(decided_at / ${length}) + 1) * ${length};
        ${used} := 0; ${also}
      ELSE
        ${end} := least(${end}, decided_at + ${length});
      END IF;`
}
