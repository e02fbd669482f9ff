import { liveKey } from '../keys/live-key.ts'
import { keyChanges, newKey } from '../keys/new-key.ts'
import { sharedLookUps } from '../keys/shared-look-up.ts'
import { hashToken, isToken } from '../keys/token.ts'
import type { ApiKey } from '../model.ts'
import type { Clock, ManagedKeyStore } from '../ports.ts'

/** The largest number of look-ups that requests can share at the same time. */
const MAX_LOOK_UPS = 10_000

export function memoryKeyStore(clock: Clock, plans?: readonly string[]): ManagedKeyStore {
  /** Each key by the SHA-256 of its token. The three maps hold the same objects: a new `key` in an object is seen in all maps. */
  const byHash = new Map<string, { key: ApiKey }>()
  /** Each key that is not revoked, by its id. */
  const byId = new Map<string, { key: ApiKey }>()
  /** The keys whose token was found before. Otherwise, hashing the token would take longer than the rest of the request. */
  const byToken = new Map<string, { key: ApiKey }>()
  // Requests with the same token at the same time wait for one hash, so that they continue in the order of their arrival.
  const lookUps = sharedLookUps(async (token) => {
    const entry = byHash.get(await hashToken(token))
    if (entry !== undefined) byToken.set(token, entry)
    return entry
  }, MAX_LOOK_UPS)

  return {
    find(token) {
      const entry = byToken.get(token)
      if (entry !== undefined) return liveKey(entry.key, clock.now())
      if (!isToken(token)) return undefined
      return lookUps.find(token).then((found) => liveKey(found?.key, clock.now()))
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
