import { type Clock, hashToken, isToken, type ManagedKeyStore, newKey } from '../../../src/index.ts'
import { type KeyRow, keyStatements, keyValues, toKey } from '../sqlite/key-table.ts'
import type { Engine } from './database.ts'

/** Creates a key store in D1. It finds a key by the SHA-256 hash of its token. */
export function d1KeyStore({ run }: Engine, clock: Clock): ManagedKeyStore {
  return {
    async find(token) {
      if (!isToken(token)) return undefined
      const [row] = await run<KeyRow>(keyStatements.byHash, await hashToken(token))
      return row && toKey(row)
    },
    async issue(options) {
      const { token, hash, key } = await newKey(options, clock.now())
      await run(keyStatements.insert, ...keyValues(key, hash))
      return { token, key }
    },
    revoke: async (id) => (await run(keyStatements.revoke, String(clock.now()), id)).length > 0,
    list: async () => (await run<KeyRow>(keyStatements.all)).map(toKey),
  }
}
