import { hashToken, isToken, keyChanges, newKey } from '../../../src/back-end.ts'
import type { ApiKey, Clock, KeyChanges, ManagedKeyStore } from '../../../src/index.ts'
import type { Run } from './statements.ts'

export function tableKeyStore(read: Run, write: Run, clock: Clock, plans?: readonly string[]): ManagedKeyStore {
  return {
    async find(token) {
      if (!isToken(token)) return undefined
      return toKeys(await read('key', await hashToken(token)))[0]
    },
    async issue(options) {
      const { token, hash, key } = await newKey(options, clock.now(), plans)
      const { id, plan, account, label, limits, expiresAt } = key
      const numbers = [limits?.perMinute, limits?.perDay, key.createdAt, expiresAt].map((number) => number ?? null)
      await write('addKey', id, hash, plan, account ?? null, label ?? null, ...numbers)
      return { token, key }
    },
    async update(id, changes) {
      const { limits, ...rest } = Object.fromEntries(keyChanges(changes, plans)) as KeyChanges
      const columns = limits === undefined ? rest : { ...rest, perMinute: null, perDay: null, ...limits }
      return toKeys(await write('changeKey', JSON.stringify(columns), id))[0]
    },
    revoke: async (id) => (await write('revokeKey', clock.now(), id)).length > 0,
    list: async () => toKeys(await read('keys')),
  }
}

function toKeys(rows: readonly unknown[]): ApiKey[] {
  return (rows as { readonly json: string }[]).map(({ json }) => JSON.parse(json))
}
