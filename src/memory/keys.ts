import { newKey } from '../keys/new-key.ts'
import { hashToken, isToken } from '../keys/token.ts'
import type { ApiKey } from '../model.ts'
import type { Clock, ManagedKeyStore } from '../ports.ts'

/** API keys in memory, by the SHA-256 of their token. */
export function memoryKeyStore(clock: Clock): ManagedKeyStore {
  const byHash = new Map<string, ApiKey>()
  const hashes = new Map<string, string>()
  // Hashing takes longer than all the rest of a request. Only tokens of live keys stand here: there are no more than those.
  const hashOfToken = new Map<string, string>()
  const underWay = new Map<string, Promise<ApiKey | undefined>>()

  const live = (hash: string) => {
    const key = byHash.get(hash)
    return key?.revokedAt === undefined ? key : undefined
  }
  const hashAndFind = async (token: string) => {
    const hash = await hashToken(token).finally(() => underWay.delete(token))
    const key = live(hash)
    if (key !== undefined) hashOfToken.set(token, hash)
    return key
  }
  /** Requests that bring one token at once share its hashing, and so go on in the order in which they came. */
  const share = (token: string) => {
    const finding = underWay.get(token) ?? hashAndFind(token)
    underWay.set(token, finding)
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
