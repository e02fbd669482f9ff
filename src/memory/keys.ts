import { liveKey } from '../keys/authenticate.ts'
import { keyChanges, newKeyWithoutHash } from '../keys/new-key.ts'
import type { ApiKey } from '../model.ts'
import type { Clock, ManagedKeyStore } from '../ports.ts'

export function memoryKeyStore(clock: Clock, plans?: readonly string[]): ManagedKeyStore {
  /**
   * Each key by its token. Other key stores keep a hash instead of the token, because a file or a
   * database can be stolen. Here, it would protect nothing, because each request brings its token
   * into the same memory, and hashing takes longer than the look-up.
   */
  const byToken = new Map<string, { key: ApiKey }>()
  /**
   * Each key that is not revoked, by its id. Both maps hold the same objects: a new `key` in an
   * object is seen in both.
   */
  const byId = new Map<string, { key: ApiKey }>()

  return {
    find: (token) => liveKey(byToken.get(token)?.key, clock.now()),
    async issue(options) {
      const { token, key } = newKeyWithoutHash(options, clock.now(), plans)
      const entry = { key }
      byToken.set(token, entry)
      byId.set(key.id, entry)
      return { token, key }
    },
    async update(id, changes) {
      const members = keyChanges(changes, plans)
      const entry = byId.get(id)
      if (entry === undefined) return undefined
      const changed = Object.entries({ ...entry.key, ...Object.fromEntries(members) })
      entry.key = Object.freeze(Object.fromEntries(changed.filter(([, value]) => value !== null)) as unknown as ApiKey)
      return entry.key
    },
    async revoke(id) {
      const entry = byId.get(id)
      if (entry === undefined) return false
      byId.delete(id)
      entry.key = Object.freeze({ ...entry.key, revokedAt: clock.now() })
      return true
    },
    list: async () => Array.from(byToken.values(), ({ key }) => key),
  }
}
