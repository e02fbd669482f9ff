import { Pool, type PoolConfig } from 'pg'
import { type PostgresBackEnd, type PostgresClient, postgres } from '../../adapters/back-ends/postgres/index.ts'
import type { Clock } from '../../src/index.ts'
import type { Opened } from '../../src/testing/index.ts'

/** Opens a pool with an error listener. Without this listener, losing an idle connection would end the process. */
export function openPool(connectionString: string, config: PoolConfig = {}): Pool {
  const pool = new Pool({ connectionString, ...config })
  pool.on('error', () => {})
  return pool
}

/** Returns the back end of a process. Until `release` is called, the back end sends no statement that contains `SAVE`. */
export function slowProcess(pool: Pool, clock?: Clock) {
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  let arrive = () => {}
  const written = new Promise<void>((resolve) => {
    arrive = resolve
  })
  const query: PostgresClient['query'] = async (text, values) => {
    if (text.includes(SAVE)) {
      arrive()
      await released
    }
    return pool.query(text, values)
  }
  return { ...postgres({ query }, { clock }), written, release }
}

/** The statement that waits for the disk contains this text. */
export const SAVE = '"petstore".save('

type Ports = Omit<PostgresBackEnd, 'migrate'>

/** Returns a function that empties the database and opens a back end on it. */
export function emptied(client: PostgresClient) {
  let migrated: Promise<void> | undefined
  return async (clock?: Clock) => {
    const backEnd = postgres(client, { clock })
    migrated ??= backEnd.migrate()
    await migrated
    await client.query('TRUNCATE petstore.pets, petstore.keys, petstore.quota, petstore.anonymous')
    return {
      as: <Name extends keyof Ports>(name: Name): Opened<Ports[Name]> => ({
        port: backEnd[name],
        close: async () => {},
        reopen: () => postgres(client, { clock })[name],
      }),
    }
  }
}
