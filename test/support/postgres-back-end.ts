import { Pool, type PoolConfig } from 'pg'
import { type PostgresBackEnd, type PostgresClient, postgres } from '../../adapters/back-ends/postgres/index.ts'
import type { Clock } from '../../src/index.ts'
import type { Opened } from '../../src/testing/index.ts'
import { until } from './until.ts'

/** Opens a pool with an error listener. Without this listener, losing an idle connection would end the process. */
export function openPool(connectionString: string, config: PoolConfig = {}): Pool {
  const pool = new Pool({ connectionString, ...config })
  pool.on('error', () => {})
  return pool
}

/**
 * Makes each transaction that adds an animal with this name wait just before its commit, until `release` is called. `isHeld`
 * resolves when one waits.
 */
export async function holdCommits(pool: Pool, name: string) {
  const gate = await pool.connect()
  await gate.query(`CREATE OR REPLACE FUNCTION petstore.wait_at_gate() RETURNS trigger LANGUAGE plpgsql
    AS 'BEGIN PERFORM pg_advisory_xact_lock_shared(42); RETURN NULL; END'`)
  await gate.query(`CREATE CONSTRAINT TRIGGER gate AFTER INSERT ON petstore.pets DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (new.name = '${name}') EXECUTE FUNCTION petstore.wait_at_gate()`)
  await gate.query('SELECT pg_advisory_lock(42)')
  return {
    isHeld: () =>
      until(
        async () =>
          (await pool.query("SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")).rows.length > 0,
      ),
    async release() {
      await gate.query('SELECT pg_advisory_unlock(42)')
      gate.release()
    },
  }
}

/** Resolves when `count` statements wait for a row or a table that another transaction has locked. */
export function waitForLocks(pool: Pool, count = 1): Promise<void> {
  const text = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND wait_event <> 'advisory'"
  return until(async () => (await pool.query(text)).rows.length >= count)
}

type Ports = Omit<PostgresBackEnd, 'migrate'>

/** Returns a client that does the same, and a function that waits for its running statements. */
function tracked(given: PostgresClient) {
  const running = new Set<Promise<unknown>>()
  const query: PostgresClient['query'] = (text, values) => {
    const result = given.query(text, values)
    running.add(result)
    const end = () => running.delete(result)
    result.then(end, end)
    return result
  }
  // It inherits all other members, because a back end uses a pool otherwise than one connection.
  const client: PostgresClient = Object.create(given, { query: { value: query } })
  return { client, settle: () => Promise.allSettled(running) }
}

/** Returns a function that empties the database and opens a back end on it. */
export function emptied(given: PostgresClient) {
  const { client, settle } = tracked(given)
  let migrated: Promise<void> | undefined
  return async (clock?: Clock) => {
    const backEnd = postgres(client, { clock })
    migrated ??= backEnd.migrate()
    await migrated
    // Old counters are deleted in the background, by the clock of the test before.
    await settle()
    await client.query('TRUNCATE petstore.pets, petstore.used_keys, petstore.keys, petstore.quota')
    return {
      as: <Name extends keyof Ports>(name: Name): Opened<Ports[Name]> => ({
        port: backEnd[name],
        close: async () => {},
        reopen: () => postgres(client, { clock })[name],
      }),
    }
  }
}
