import { keyChanges, newKey } from '../keys/new-key.ts'
import { hashToken, isToken } from '../keys/token.ts'
import type { ApiKey } from '../model.ts'
import type { Clock, ManagedKeyStore } from '../ports.ts'

/** Creates a key store in memory, which finds keys by the SHA-256 of their token. */
export function memoryKeyStore(clock: Clock, plans?: readonly string[]): ManagedKeyStore {
  /** Entries by the hash of their token. A change replaces the key of an entry. */
  const byHash = new Map<string, { key: ApiKey }>()
  /** The entry of each key that is not revoked, by its id. */
  const byId = new Map<string, { key: ApiKey }>()
  // Known tokens need no hashing, which takes longer than the rest of a request. Only tokens of issued keys are added.
  const byToken = new Map<string, { key: ApiKey }>()
  const running = new Map<string, Promise<ApiKey | undefined>>()

  const live = ({ key }: { readonly key: ApiKey }) => (key.revokedAt === undefined ? key : undefined)
  const hashAndFind = async (token: string) => {
    const hash = await hashToken(token).finally(() => running.delete(token))
    const entry = byHash.get(hash)
    if (entry !== undefined) byToken.set(token, entry)
    return entry && live(entry)
  }
  return {
    find(token) {
      const entry = byToken.get(token)
      if (entry !== undefined) return live(entry)
      if (!isToken(token)) return undefined
      // Concurrent requests with the same token share one hashing, so that they continue in the order of their arrival.
      const finding = running.get(token) ?? hashAndFind(token)
      running.set(token, finding)
      return finding
    },
    async issue(options) {
      const { token, hash, key } = await newKey(options, clock.now(), plans)
      const entry = { key }
      byHash.set(hash, entry)
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
    list: async () => Array.from(byHash.values(), ({ key }) => key),
  }
}
