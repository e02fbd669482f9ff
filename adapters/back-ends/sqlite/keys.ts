import { type Clock, hashToken, isToken, type ManagedKeyStore, newKey } from '../../../src/index.ts'
import { prepare, type SqliteDatabase } from './database.ts'
import { guarded } from './errors.ts'
import { type KeyRow, keyStatements, keyValues, toKey } from './key-table.ts'
import type { Writer } from './writer.ts'

/** Creates a key store in SQLite. It finds a key by the SHA-256 hash of its token. */
export function sqliteKeyStore(database: SqliteDatabase, { write }: Writer, clock: Clock): ManagedKeyStore {
  const byHash = prepare(database, keyStatements.byHash)
  const all = prepare(database, keyStatements.all)
  const insert = prepare(database, keyStatements.insert)
  const revoke = prepare(database, keyStatements.revoke)

  return {
    async find(token) {
      if (!isToken(token)) return undefined
      const hash = await hashToken(token)
      const [row] = guarded(() => byHash.all(hash)) as KeyRow[]
      return row && toKey(row)
    },
    async issue(options) {
      const { token, hash, key } = await newKey(options, clock.now())
      await write(() => insert.run(...keyValues(key, hash)))
      return { token, key }
    },
    async revoke(id) {
      const now = String(clock.now())
      return write(() => revoke.all(now, id).length > 0)
    },
    list: async () => (guarded(() => all.all()) as KeyRow[]).map(toKey),
  }
}
