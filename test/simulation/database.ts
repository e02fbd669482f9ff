import type { PGlite } from '@electric-sql/pglite'
import { LRUCache } from 'lru-cache'
import { postgres } from '../../adapters/back-ends/postgres/index.ts'

// Runs the real SQL in PGlite, to find out how a statement changes the tables. PGlite has one session, so each statement is
// rolled back, and the caller (engine.ts) keeps the state of the tables. Each outcome is cached by the statement and this state.

/** All rows, as `table {"column":value}`. `ids` is the state of the sequence: its last value, and whether that value is used. */
export interface State {
  readonly rows: ReadonlySet<string>
  readonly ids: string
  /** Grows with each crash and TRUNCATE: afterwards, `add_pets` draws another random number for the table `server_runs`. */
  readonly era: number
}

export interface Lock {
  readonly name: string
  readonly mode: string
}

/** What a statement returns, and what its commit would do. */
export interface Outcome {
  readonly rows: readonly unknown[]
  readonly failure?: { readonly code: string; readonly message: string } | null
  readonly added: readonly string[]
  readonly removed: readonly string[]
  /** The state of the sequence, if the statement has changed it. A rollback does not undo this change. */
  readonly ids: string | undefined
  readonly locks: readonly Lock[]
  /** Whether the commit waits for the disk. */
  readonly waits: boolean
}

export interface Database {
  readonly empty: State
  /** The tables that a crash empties. */
  readonly unlogged: readonly string[]
  /** @param held - advisory locks of other transactions, for `pg_try_advisory_xact_lock` */
  evaluate(state: State, statement: string, values: readonly unknown[], held: readonly string[]): Promise<Outcome>
}

const EMPTY: State = { rows: new Set(), ids: '1 f', era: 0 }
/** Besides tables, an outcome may depend on the SQL sequence of the ids and on advisory locks of other transactions. */
const [IDS, HELD] = ['pet_ids', 'held']
/** The maximum number of outcomes in the cache. It limits the memory of a long simulation. */
const REMEMBERED = 30_000

/** Removes all tables and creates them again, with the SQL of the tested code, which may contain a deliberate fault. */
export async function openDatabase(pglite: PGlite): Promise<Database> {
  await pglite.exec('DROP SCHEMA IF EXISTS petstore, simulation CASCADE')
  await postgres(pglite).migrate()
  const { rows } = await pglite.query<{ name: string; unlogged: boolean }>(TABLES)
  await pglite.exec(functions(rows.map(({ name }) => name)))
  const unlogged = rows.filter((table) => table.unlogged).map(({ name }) => name)
  const everything = [...rows.map(({ name }) => name), IDS, HELD]
  const outcomes = new LRUCache<string, Outcome>({ max: REMEMBERED })
  /** For each call, what it has used: tables, `IDS`, `HELD`. Only the contents of these decide the outcome of the call. */
  const uses = new Map<string, Map<string, readonly string[]>>()
  let current = EMPTY

  async function arrange({ rows, ids }: State): Promise<void> {
    const { removed, added } = difference(current.rows, rows)
    if (removed.length + added.length > 0 || ids !== current.ids)
      await pglite.query('SELECT simulation.arrange($1, $2, $3)', [removed, added, ids])
    current = { rows, ids, era: 0 }
  }

  async function evaluate(state: State, statement: string, values: readonly unknown[], held: readonly string[]) {
    await arrange(state)
    const texts = values.map((value) => (value === null ? null : String(value)))
    const found = await pglite.query('SELECT simulation.run($1, $2, $3) AS found', [statement, texts, held])
    const [
      {
        found: { after, ...outcome },
      },
    ] = found.rows as [{ found: Ran }]
    const ids = outcome.ids === state.ids ? undefined : outcome.ids
    if (ids !== undefined) current = { ...current, ids: 'unknown' }
    return { ...outcome, ids, ...(after ? difference(state.rows, new Set(after)) : { added: [], removed: [] }) }
  }

  function keyOf({ rows, ids, era }: State, held: readonly string[], used: readonly string[]): string {
    const contents = used.map((name) => {
      if (name === IDS) return ids
      if (name === HELD) return held
      const found = [...rows].filter((row) => row.startsWith(`${name} `)).sort()
      return found.length > 0 || !unlogged.includes(name) ? found : era
    })
    return JSON.stringify([used, contents])
  }

  return {
    empty: EMPTY,
    unlogged,
    async evaluate(state, statement, values, held) {
      const call = JSON.stringify([statement, values])
      const known = uses.get(call) ?? new Map<string, readonly string[]>()
      for (const used of known.values()) {
        const outcome = outcomes.get(call + keyOf(state, held, used))
        if (outcome !== undefined) return outcome
      }
      const outcome = await evaluate(state, statement, values, held)
      const used = outcome.failure
        ? everything
        : [...new Set(outcome.locks.map(({ name }) => (/^\d+$/.test(name) ? HELD : name)))]
      uses.set(call, known.set(used.join(), used))
      outcomes.set(call + keyOf(state, held, used), outcome)
      return outcome
    },
  }
}

type Ran = Omit<Outcome, 'added' | 'removed'> & { readonly after: readonly string[] | null }

function difference(from: ReadonlySet<string>, to: ReadonlySet<string>) {
  return { removed: [...from].filter((row) => !to.has(row)), added: [...to].filter((row) => !from.has(row)) }
}

const TABLES = `SELECT relname AS name, relpersistence = 'u' AS unlogged FROM pg_class
  WHERE relnamespace = 'petstore'::regnamespace AND relkind = 'r' AND relname NOT IN ('versions', 'keys', 'quota', 'anonymous')`

/** `arrange` gives the tables the rows of a state, without calling their triggers. `run` runs a statement and rolls it back. */
function functions(tables: readonly string[]): string {
  const everyRow = tables
    .map((name) => `SELECT '${name} ' || to_jsonb(t)::text FROM petstore.${name} AS t`)
    .join(' UNION ALL ')
  const arrange = tables.map(
    (name) => `
      IF strpos(removed::text, '${name} ') > 0 THEN
        DELETE FROM petstore.${name} AS t WHERE '${name} ' || to_jsonb(t)::text = ANY (removed);
      END IF;
      INSERT INTO petstore.${name} SELECT t.* FROM unnest(added) AS a,
        jsonb_populate_record(NULL::petstore.${name}, substr(a, ${name.length + 2})::jsonb) AS t WHERE a LIKE '${name} %';`,
  )
  return `
    CREATE SCHEMA simulation;
    CREATE FUNCTION simulation.arrange(removed text[], added text[], ids text) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM set_config('session_replication_role', 'replica', true);
      ${arrange.join('')}
      PERFORM setval('petstore.pet_ids', split_part(ids, ' ', 1)::bigint, split_part(ids, ' ', 2)::boolean);
    END $$;

    CREATE FUNCTION simulation.run(statement text, v text[], held text[]) RETURNS json LANGUAGE plpgsql AS $$
    DECLARE
      found json; after json; ids text; locks json; waits boolean; failure json;
    BEGIN
      PERFORM set_config('simulation.held', held::text, true);
      BEGIN
        IF statement LIKE 'SELECT%' THEN
          EXECUTE format('SELECT json_agg(s) FROM (%s) AS s', statement) INTO found USING v[1], v[2], v[3], v[4], v[5], v[6];
        ELSE
          EXECUTE statement USING v[1], v[2], v[3], v[4], v[5], v[6];
        END IF;
        SELECT json_agg(json_build_object('name', coalesce(c.relname,
            CASE objsubid WHEN 1 THEN ((classid::bigint << 32) | objid::bigint)::text ELSE concat_ws(',', classid, objid) END),
            'mode', l.mode)) INTO locks
          FROM pg_locks AS l LEFT JOIN pg_class AS c ON c.oid = l.relation
          WHERE l.locktype = 'advisory' OR c.relnamespace = 'petstore'::regnamespace AND c.relkind IN ('r', 'S');
        IF txid_current_if_assigned() IS NOT NULL THEN
          SELECT json_agg(r) INTO after FROM (${everyRow}) AS every (r);
          after := coalesce(after, '[]');
        END IF;
        SELECT concat_ws(' ', last_value, is_called) INTO ids FROM petstore.pet_ids;
        waits := after IS NOT NULL AND current_setting('synchronous_commit') <> 'off';
        RAISE EXCEPTION USING ERRCODE = 'SIM00';
      EXCEPTION
        WHEN SQLSTATE 'SIM00' THEN NULL;
        WHEN OTHERS THEN
          failure := json_build_object('code', SQLSTATE, 'message', SQLERRM);
          SELECT concat_ws(' ', last_value, is_called) INTO ids FROM petstore.pet_ids;
      END;
      RETURN json_build_object('rows', coalesce(found, '[]'), 'failure', failure, 'after', after, 'ids', ids,
        'locks', coalesce(locks, '[]'), 'waits', coalesce(waits, false));
    END $$;

    -- PGlite's only session never waits for its own lock, so the function that tries a lock asks for the locks of others here.
    DO $$ BEGIN
      IF to_regproc('pg_catalog.try_lock_in_fact') IS NULL THEN
        ALTER FUNCTION pg_catalog.pg_try_advisory_xact_lock(bigint) RENAME TO try_lock_in_fact;
      END IF;
    END $$;
    CREATE OR REPLACE FUNCTION pg_catalog.pg_try_advisory_xact_lock(wanted bigint) RETURNS boolean LANGUAGE sql VOLATILE AS $$
      SELECT CASE WHEN wanted::text = ANY (current_setting('simulation.held')::text[]) THEN false ELSE try_lock_in_fact(wanted) END
    $$;`
}
