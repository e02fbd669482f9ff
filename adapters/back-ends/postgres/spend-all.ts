import { withLockTimeout } from './lock-timeout.ts'
import { dollarQuoted, type Names } from './names.ts'
import { decide, law, lockAnonymous, lockCustomer, saveAnonymous, saveCustomer } from './spend.ts'

/**
 * Returns SQL that creates the function for requests of clients with a key. Equal requests of a subject are one entry: subject,
 * bucket, limits, ban rule, and number of requests. For each entry, the function returns the time and the state before its first
 * request.
 */
export function spendAllFunction({ spendAll, quota }: Names): string {
  return batchFunction(spendAll, lockCustomer(quota), saveCustomer(quota))
}

/**
 * Returns SQL that creates the function for requests of anonymous clients. That function works like the function of
 * `spendAllFunction`.
 */
export function spendAllAnonymousFunction({ spendAllAnonymous, anonymous }: Names): string {
  return batchFunction(spendAllAnonymous, lockAnonymous(anonymous), saveAnonymous(anonymous))
}

// The type of `state` is `record`. With the table's row type, PostgreSQL would wait for a table lock before the timeout is set.
function batchFunction(name: string, lock: string, save: string): string {
  const body = `
    DECLARE
      state record;
      who text;
      in_bucket int;
      per_minute double precision;
      per_day double precision;
      after_refusals double precision;
      ban_length double precision;
      times int;
      banned boolean;
      granted boolean;
      decided_at double precision;
    BEGIN
      ${withLockTimeout}
      FOR place, who, in_bucket, per_minute, per_day, after_refusals, ban_length, times IN
        SELECT g.place, g.entry->>0, (g.entry->>1)::int, (g.entry->>2)::float8, (g.entry->>3)::float8,
          (g.entry->>4)::float8, (g.entry->>5)::float8, (g.entry->>6)::int
        FROM json_array_elements(given) WITH ORDINALITY AS g (entry, place) ORDER BY g.place
      LOOP
        ${lock}
        ${decide}
        decided := decided_at;
        usedinminute := state.used_in_minute;
        minuteendsat := state.minute_ends_at;
        usedinday := state.used_in_day;
        dayendsat := state.day_ends_at;
        refusedinminute := state.refused_in_minute;
        banneduntil := state.banned_until;
        banned := false;
        FOR i IN 1..times LOOP
          ${law}
        END LOOP;
        ${save}
        RETURN NEXT;
      END LOOP;
    END
    `
  return `
    CREATE FUNCTION ${name}(given json, at double precision, lock_wait int) RETURNS TABLE (
      place bigint, decided double precision,
      usedinminute double precision, minuteendsat double precision,
      usedinday double precision, dayendsat double precision,
      refusedinminute double precision, banneduntil double precision
    ) LANGUAGE plpgsql SET lock_timeout = 0 AS ${dollarQuoted(body, 'spend_all')};`
}
