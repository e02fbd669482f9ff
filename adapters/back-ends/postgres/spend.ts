import { dollarQuoted, type Names } from './names.ts'

/**
 * The law of `countRequest`, step by step, as a function of the engine: there it is planned once for a connection, where a
 * statement that says the same is planned at every request, which costs several times the work itself.
 *
 * Whoever comes second to a subject waits for the first to have ended, and reads the time only then. The arguments are
 * the subject, its limits for the minute and the day, the ban's rule (refusals, milliseconds) or nulls, and the time where
 * it is not to be the engine's own.
 */
export function spendFunction({ spend, quota }: Names): string {
  return `
    CREATE FUNCTION ${spend}(
      who text, per_minute double precision, per_day double precision,
      after_refusals double precision, ban_length double precision, at double precision,
      OUT granted boolean, OUT decided_at double precision, OUT state ${quota}
    ) LANGUAGE plpgsql AS ${dollarQuoted(body(quota), 'spend')};`
}

function body(quota: string): string {
  return `
    DECLARE
      banned boolean := false;
    BEGIN
      LOOP
        SELECT q.* INTO state FROM ${quota} AS q WHERE q.subject = who FOR NO KEY UPDATE;
        EXIT WHEN FOUND;
        INSERT INTO ${quota} VALUES (who, 0, 0, 0, 0, 0, 0) ON CONFLICT DO NOTHING;
      END LOOP;
      decided_at := coalesce(at, floor(date_part('epoch', clock_timestamp()) * 1000));
      ${roll('minute', 60_000, 'state.refused_in_minute := 0;')}
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
      END IF;
      UPDATE ${quota} AS q SET used_in_minute = state.used_in_minute, minute_ends_at = state.minute_ends_at,
        used_in_day = state.used_in_day, day_ends_at = state.day_ends_at,
        refused_in_minute = state.refused_in_minute, banned_until = state.banned_until
      WHERE q.subject = who;
    END
    `
}

/** Opens a new window where the old one has ended, and holds one that a clock set back has put too far ahead. */
function roll(window: 'minute' | 'day', length: number, also = ''): string {
  const [used, end] = [`state.used_in_${window}`, `state.${window}_ends_at`]
  return `IF decided_at >= ${end} THEN
        ${end} := (floor(decided_at / ${length}) + 1) * ${length};
        ${used} := 0; ${also}
      ELSE
        ${end} := least(${end}, decided_at + ${length});
      END IF;`
}
