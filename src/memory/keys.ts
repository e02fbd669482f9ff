import { boundedMap } from '../bounded-map.ts'
import type { ApiKey } from '../model.ts'
import { newKey } from '../new-key.ts'
import type { Clock, ManagedKeyStore } from '../ports.ts'
import { hashToken, isToken } from '../token.ts'

/** How many tokens' hashes are remembered: hashing takes longer than all the rest of a request. */
const REMEMBERED = 10_000

/** API keys in memory, by the SHA-256 of their token. */
export function memoryKeyStore(clock: Clock): ManagedKeyStore {
  const byHash = new Map<string, ApiKey>()
  const hashes = new Map<string, string>()
  const hashOfToken = boundedMap<string>(REMEMBERED)

  const live = (hash: string) => {
    const key = byHash.get(hash)
    return key?.revokedAt === undefined ? key : undefined
  }
  const hashAndFind = async (token: string) => {
    const hash = await hashToken(token)
    // Only tokens of keys, so that no flood of others pushes these out.
    if (byHash.has(hash)) hashOfToken.set(token, hash)
    return live(hash)
  }
  return {
    find(token) {
      const hash = hashOfToken.get(token)
      if (hash !== undefined) return live(hash)
      return isToken(token) ? hashAndFind(token) : undefined
    },
    async issue(options) {
      const { token, hash, key } = await newKey(options, clock.now())
      byHash.set(hash, key)
      hashes.set(key.id, hash)
      return { token, key }
    },
    async revoke(id) {
      const hash = hashes.get(id) ?? ''
      const key = live(hash)
      if (key !== undefined) byHash.set(hash, Object.freeze({ ...key, revokedAt: clock.now() }))
      return key !== undefined
    },
    list: async () => [...byHash.values()],
  }
}
