import type { ApiKey } from '../model.ts'
import { newKey } from '../new-key.ts'
import type { Clock, ManagedKeyStore } from '../ports.ts'
import { hashToken, isToken } from '../token.ts'

/** API keys in memory, by the SHA-256 of their token. */
export function memoryKeyStore(clock: Clock): ManagedKeyStore {
  const byHash = new Map<string, ApiKey>()
  const hashes = new Map<string, string>()

  return {
    async find(token) {
      const key = isToken(token) ? byHash.get(await hashToken(token)) : undefined
      return key?.revokedAt === undefined ? key : undefined
    },
    async issue(options) {
      const { token, hash, key } = await newKey(options, clock.now())
      byHash.set(hash, key)
      hashes.set(key.id, hash)
      return { token, key }
    },
    async revoke(id) {
      const hash = hashes.get(id)
      const key = hash === undefined ? undefined : byHash.get(hash)
      if (hash === undefined || key === undefined || key.revokedAt !== undefined) return false
      byHash.set(hash, Object.freeze({ ...key, revokedAt: clock.now() }))
      return true
    },
    list: async () => [...byHash.values()],
  }
}
