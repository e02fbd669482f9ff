import { newKey } from '../keys/new-key.ts'
import { hashToken, isToken } from '../keys/token.ts'
import type { ApiKey } from '../model.ts'
import type { Clock, ManagedKeyStore } from '../ports.ts'

/** Creates a key store in memory, which finds keys by the SHA-256 of their token. */
export function memoryKeyStore(clock: Clock, plans?: readonly string[]): ManagedKeyStore {
  const byHash = new Map<string, ApiKey>()
  const hashes = new Map<string, string>()
  // Caches hashes, because hashing takes longer than the rest of a request. Only tokens of valid keys are added.
  const hashOfToken = new Map<string, string>()
  const running = new Map<string, Promise<ApiKey | undefined>>()

  const live = (hash: string) => {
    const key = byHash.get(hash)
    return key?.revokedAt === undefined ? key : undefined
  }
  const hashAndFind = async (token: string) => {
    const hash = await hashToken(token).finally(() => running.delete(token))
    const key = live(hash)
    if (key !== undefined) hashOfToken.set(token, hash)
    return key
  }
  /** Lets concurrent requests with the same token share one hashing, so that they continue in the order of their arrival. */
  const share = (token: string) => {
    const finding = running.get(token) ?? hashAndFind(token)
    running.set(token, finding)
    return finding
  }
  return {
    find(token) {
      const hash = hashOfToken.get(token)
      const key = hash === undefined ? undefined : live(hash)
      if (key !== undefined) return key
      hashOfToken.delete(token)
      return isToken(token) ? share(token) : undefined
    },
    async issue(options) {
      const { token, hash, key } = await newKey(options, clock.now(), plans)
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
