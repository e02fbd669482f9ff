import { LRUCache } from 'lru-cache'
import type { ApiKey } from '../model.ts'
import type { Clock, KeyStore, ManagedKeyStore, MaybePromise } from '../ports.ts'
import { boundedMap } from '../support/bounded-map.ts'
import {
  checkOptions,
  clockRule,
  countRule,
  invalidOption,
  isObject,
  keyStoreRule,
  type OptionRule,
  type OptionRules,
} from '../support/option-rules.ts'
import { systemClock } from '../support/time.ts'

/** The options of {@link cachedKeyStore}. */
export interface KeyCacheOptions {
  /** How long a key is cached, in milliseconds; 0 for not at all. @default 30000 */
  readonly ttl?: number | undefined
  /** The largest number of cached keys, and of cached unknown tokens. @default 10000 */
  readonly max?: number | undefined
  /** The clock, in milliseconds since the Unix epoch. @default the system clock */
  readonly clock?: Clock | undefined
}

/** The cache of {@link cachedKeyStore}. */
export interface KeyCache {
  /** Forgets what is known about a token, so that its next request reads the key anew. Call it when your own key has changed. */
  forget(token: string): void
}

/** How long an unknown token is cached, in milliseconds. The time is short, because another process may add its key. */
const UNKNOWN_TTL = 5_000
/** An unknown token of more than this many characters counts as several entries. */
const UNKNOWN_LENGTH = 256
/** How long requests may join a running look-up of their token, in milliseconds. A look-up on a lost connection may never end. */
const JOINED_FOR = 5_000
/** A look-up that takes longer than this, in milliseconds, is forgotten, and its result is not cached. */
const AWAITED_FOR = 60_000

interface KnownToken {
  readonly key: ApiKey
  readonly readAt: number
}

interface LookUp {
  readonly result: Promise<ApiKey | undefined>
  readonly startedAt: number
}

/**
 * Returns a key store with a cache. Concurrent requests with the same token share one look-up, and a cached token needs no
 * look-up.
 *
 * A key that is changed or revoked through this store is read anew. If another process changes or revokes a key, this takes
 * effect after at most `ttl`; `forget` ends the wait for one token.
 *
 * @throws {PetStoreError} `invalid_option`
 * @example
 * ```ts
 * import { cachedKeyStore, createPetStore, type KeyStore } from 'petstore-kit'
 *
 * const ours: KeyStore = {
 *   find: async (token) => (token === 'letmein' ? { id: 'front-desk', plan: 'business' } : undefined),
 * }
 * const petStore = createPetStore({ keyStore: cachedKeyStore(ours, { ttl: 10_000 }) })
 * ```
 */
export function cachedKeyStore<Store extends KeyStore>(
  store: Store,
  options?: KeyCacheOptions,
): (Store extends ManagedKeyStore ? ManagedKeyStore : KeyStore) & KeyCache
export function cachedKeyStore(store: KeyStore | ManagedKeyStore, options: KeyCacheOptions = {}): KeyStore & KeyCache {
  if (!keyStoreRule.check(store)) throw invalidOption('store', keyStoreRule.expected, store)
  checkOptions(RULES, options)
  const { ttl = 30_000, max = 10_000, clock = systemClock } = options
  const known: LRUCache<string, KnownToken> = boundedMap(max)
  /** For each unknown token, when it was looked up. */
  const unknown = boundedByLength<number>(max)
  /** Running look-ups by token. A change of a key replaces the map, so that no earlier look-up caches its result. */
  let lookUps = boundedByLength<LookUp>(max)

  /** Returns whether `since` is less than `length` milliseconds ago. Returns `false` for a future time. */
  function isFresh(since: number, length: number): boolean {
    const age = clock.now() - since
    return age >= 0 && age < length
  }

  function find(token: string): MaybePromise<ApiKey | undefined> {
    const entry = known.get(token)
    if (entry !== undefined && isFresh(entry.readAt, ttl)) return entry.key
    const unknownAt = unknown.get(token)
    if (unknownAt !== undefined && isFresh(unknownAt, Math.min(ttl, UNKNOWN_TTL))) return undefined
    const lookUp = lookUps.peek(token)
    return lookUp !== undefined && isFresh(lookUp.startedAt, JOINED_FOR) ? lookUp.result : startLookUp(token)
  }

  /** Starts a look-up. It gets no signal, because several requests may share it. */
  function startLookUp(token: string): Promise<ApiKey | undefined> {
    const current = lookUps
    const startedAt = clock.now()
    const result = (async () => store.find(token))()
      .then((found) => {
        // A key store may return `null` for a missing row, or `false` in plain JavaScript.
        const key = found || undefined
        // After a change or a later look-up of the same token, the result may be outdated, so it is not cached.
        if (current === lookUps && current.peek(token) === lookUp) remember(token, key, startedAt)
        return key
      })
      .finally(() => {
        if (current.peek(token) === lookUp) current.delete(token)
      })
    const lookUp = { result, startedAt }
    forgetLost(startedAt)
    current.delete(token)
    current.set(token, lookUp)
    return result
  }

  function forgetLost(now: number): void {
    // `rentries` begins with the oldest look-up.
    for (const [token, { startedAt }] of lookUps.rentries() as Iterable<[string, LookUp]>) {
      if (Math.abs(now - startedAt) < AWAITED_FOR) break
      lookUps.delete(token)
    }
  }

  function remember(token: string, key: ApiKey | undefined, readAt: number): void {
    unknown.delete(token)
    known.delete(token)
    if (key) known.set(token, { key, readAt })
    else unknown.set(token, readAt)
  }

  function forget(token: string): void {
    known.delete(token)
    unknown.delete(token)
    // A running look-up that is not in the map caches nothing.
    lookUps.delete(token)
  }

  /** Changes the key with this id. A look-up that has begun before may return the old key, so it caches nothing. */
  async function change<T>(id: string, call: () => Promise<T>): Promise<T> {
    try {
      return await call()
    } finally {
      for (const [token, { key }] of known.entries()) if (key.id === id) known.delete(token)
      // A change may revive an expired key, which a store may have reported as unknown.
      unknown.clear()
      lookUps = boundedByLength(max)
    }
  }

  if (!('issue' in store)) return { find, forget }
  const managed: ManagedKeyStore & KeyCache = {
    find,
    forget,
    list: () => store.list(),
    issue: async (issueOptions) => {
      const issued = await store.issue(issueOptions)
      unknown.delete(issued.token)
      return issued
    },
    update: (id, changes) => change(id, async () => store.update(id, changes)),
    revoke: (id) => change(id, async () => store.revoke(id)),
  }
  return managed
}

const RULES: OptionRules<keyof KeyCacheOptions> = {
  ttl: { expected: 'milliseconds, at least 0', check: (value) => typeof value === 'number' && value >= 0 },
  max: countRule,
  clock: clockRule,
}

export const keyCacheRule: OptionRule = {
  expected: 'false or { ttl, max, clock }',
  check: (value) => value === false || isObject(value),
  members: RULES,
}

/** Creates a map that is also bounded by the length of its tokens, because a client may send very long tokens. */
function boundedByLength<Value extends object | number>(max: number): LRUCache<string, Value> {
  const sizeCalculation = (_: Value, token: string) => Math.max(token.length, UNKNOWN_LENGTH)
  return new LRUCache({ maxSize: max * UNKNOWN_LENGTH, sizeCalculation })
}
