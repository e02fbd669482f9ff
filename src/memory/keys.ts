import { liveKey, stateOf } from '../keys/key-state.ts'
import { keyChanges, newKeyWithoutToken } from '../keys/new-key.ts'
import { hashToken, newKeyIds, newToken } from '../keys/token.ts'
import type { ApiKey } from '../model.ts'
import type { Clock, IssuedKey, ManagedKeyStore } from '../ports.ts'
import { firstIndex } from './first-index.ts'

/**
 * A key with its tokens. Other key stores keep a hash instead of a token, because a file or a database can be
 * stolen. Here, it would protect nothing, because each request brings its token into the same memory, and hashing takes longer
 * than the look-up. Only an adopted token is kept as `sha256:` and its hash, which no bearer token can be.
 */
interface Entry {
  key: ApiKey
  token: string
  previousToken?: string | undefined
}

/** @param initial - keys that the store has from the start, with tokens and ids of any form */
export function memoryKeyStore(clock: Clock, initial: readonly IssuedKey[] = []): ManagedKeyStore {
  const byToken = new Map<string, Entry>()
  const byId = new Map<string, Entry>()
  /** All keys by ascending id. */
  const all: Entry[] = []
  /** Issued tokens by their hashes. Only `adopt` computes the hashes, because jsdom has no SHA-256. */
  const byHash = new Map<string, string>()
  const unhashed = new Set<string>()
  const newId = newKeyIds()
  let hasAdopted = false

  function add(entry: Entry): void {
    byToken.set(entry.token, entry)
    byId.set(entry.key.id, entry)
    all.splice(positionAfter(all, entry.key.id), 0, entry)
  }

  async function isIssued(tokenSha256: string): Promise<boolean> {
    for (const token of unhashed) {
      byHash.set(await hashToken(token), token)
      unhashed.delete(token)
    }
    return byToken.has(byHash.get(tokenSha256) ?? '')
  }

  for (const { token, key } of initial) {
    add({ token, key })
    unhashed.add(token)
  }

  function keyOf(token: string): ApiKey | undefined {
    const entry = byToken.get(token)
    const isPrevious = entry !== undefined && entry.token !== token
    const key = isPrevious ? { ...entry.key, tokenExpiresAt: entry.key.previousTokenExpiresAt } : entry?.key
    return liveKey(key, clock.now())
  }

  /** Sets members of a key that is not revoked; `null` removes a member. */
  function change(id: string, members: Partial<Record<keyof ApiKey, unknown>>): ApiKey | undefined {
    const entry = byId.get(id)
    if (entry === undefined || entry.key.revokedAt !== undefined) return undefined
    const changed = Object.entries({ ...entry.key, ...members }).filter(([, value]) => value !== null)
    entry.key = Object.freeze(Object.fromEntries(changed) as unknown as ApiKey)
    return entry.key
  }

  return {
    find(token) {
      if (byToken.has(token) || !hasAdopted) return keyOf(token)
      return hashToken(token).then((hash) => keyOf(adopted(hash)))
    },
    async issue(options) {
      const key = newKeyWithoutToken(options, clock.now(), newId)
      const token = newToken()
      add({ key, token })
      unhashed.add(token)
      return { token, key }
    },
    async adopt(tokenSha256, options) {
      const key = newKeyWithoutToken(options, clock.now(), newId)
      const token = adopted(tokenSha256)
      if ((await isIssued(tokenSha256)) || byToken.has(token)) return undefined
      hasAdopted = true
      add({ key, token })
      return key
    },
    get: (id) => byId.get(id)?.key,
    async list({ limit, after = '', account, state }) {
      const now = clock.now()
      const matches = ({ key }: Entry) =>
        (account === undefined || key.account === account) && (state === undefined || stateOf(key, now) === state)
      const page: ApiKey[] = []
      for (let i = positionAfter(all, after); i < all.length && page.length < limit; i++) {
        const entry = all[i] as Entry
        if (matches(entry)) page.push(entry.key)
      }
      return page
    },
    update: async (id, changes) => change(id, Object.fromEntries(keyChanges(changes))),
    async rotate(id, { overlapSeconds }) {
      const previousTokenExpiresAt = overlapSeconds > 0 ? clock.now() + overlapSeconds * 1_000 : null
      const key = change(id, { previousTokenExpiresAt })
      if (key === undefined) return undefined
      const entry = byId.get(id) as Entry
      byToken.delete(entry.previousToken ?? '')
      if (overlapSeconds === 0) byToken.delete(entry.token)
      entry.previousToken = entry.token
      entry.token = newToken()
      byToken.set(entry.token, entry)
      unhashed.add(entry.token)
      return { token: entry.token, key }
    },
    async suspend(id) {
      const suspendedAt = byId.get(id)?.key.suspendedAt ?? clock.now()
      return change(id, { suspendedAt })
    },
    resume: async (id) => change(id, { suspendedAt: null }),
    revoke: async (id) => change(id, { revokedAt: clock.now() }) !== undefined,
    async remove(id) {
      const entry = byId.get(id)
      if (entry === undefined || !['expired', 'revoked'].includes(stateOf(entry.key, clock.now()))) return false
      byId.delete(id)
      for (const token of [entry.token, entry.previousToken ?? '']) byToken.delete(token)
      all.splice(positionAfter(all, id) - 1, 1)
      return true
    },
    async recordUse(ids, day) {
      for (const id of ids) if ((byId.get(id)?.key.lastUsedOn ?? '') < day) change(id, { lastUsedOn: day })
    },
  }
}

function adopted(tokenSha256: string): string {
  return `sha256:${tokenSha256}`
}

/** Returns the position of the first key with an id above `after`. */
function positionAfter(entries: readonly Entry[], after: string): number {
  return firstIndex(entries, ({ key }) => key.id > after)
}
