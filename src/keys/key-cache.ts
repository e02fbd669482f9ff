import { LRUCache } from 'lru-cache'
import type { ApiKey } from '../model.ts'
import type { Clock, KeyStore, ManagedKeyStore, MaybePromise } from '../ports.ts'
import { boundedMap } from '../support/bounded-map.ts'
import {
  checkOptions,
  clockRule,
  invalidOption,
  isObject,
  keyStoreRule,
  type OptionRule,
  type OptionRules,
  positiveIntegerRule,
} from '../support/option-rules.ts'
import { systemClock } from '../support/time.ts'

/** The options of {@link cachedKeyStore}. */
export interface KeyCacheOptions {
  /** How long a key is cached, in milliseconds; 0 turns the cache off. @default 30000 */
  readonly ttl?: number | undefined
  /** The largest number of cached keys, and also of cached tokens that have no key. @default 10000 */
  readonly max?: number | undefined
  /** The clock, in milliseconds since the Unix epoch. @default the system clock */
  readonly clock?: Clock | undefined
}

/** The cache of {@link cachedKeyStore}. */
export interface KeyCache {
  /** Removes a token from the cache, so that the next request reads its key again. Call it after you change a key elsewhere. */
  forget(token: string): void
}

/** How long a token without a key is cached, in milliseconds. This is short, because another process may issue the key. */
const UNKNOWN_TTL = 5_000
/** A token of twice this length counts as two entries, and so on. Otherwise, clients could fill the memory with long tokens. */
const UNKNOWN_LENGTH = 256
/** How long new requests may join a look-up of their token, in milliseconds. After a lost connection, a look-up may never end. */
const SHARED_FOR = 5_000

/** The result of a look-up, or a look-up in progress. */
interface Entry {
  readonly result: MaybePromise<ApiKey | undefined>
  readonly startedAt: number
  /** How long later requests use the result, in milliseconds. */
  readonly ttl: number
}

/**
 * Returns a key store with a cache. Concurrent requests with the same token share one look-up. A change through the returned
 * store takes effect at once. A change by another process takes effect after at most `ttl`, or after `forget`.
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
  const known: LRUCache<string, Entry & { readonly result: ApiKey }> = boundedMap(max)
  /** Look-ups in progress, and tokens without a key. They are not in `known`, where made-up tokens could push out real ones. */
  const others: LRUCache<string, Entry> = new LRUCache({
    maxSize: max * UNKNOWN_LENGTH,
    sizeCalculation: (_, token) => Math.max(token.length, UNKNOWN_LENGTH),
  })

  function find(token: string): MaybePromise<ApiKey | undefined> {
    return (fresh(known.get(token)) ?? fresh(others.get(token)) ?? startLookUp(token)).result
  }

  function fresh(entry: Entry | undefined): Entry | undefined {
    const age = clock.now() - (entry?.startedAt ?? Number.NaN)
    return entry !== undefined && age >= 0 && age < entry.ttl ? entry : undefined
  }

  /** Starts a look-up without a signal: if one client disconnects, other requests may still need the result. */
  function startLookUp(token: string): Entry {
    const startedAt = clock.now()
    const result = (async () => store.find(token))()
      .then((found) => {
        // For an unknown token, a key store may return `null`; a store in plain JavaScript may also return `false`.
        const key = found || undefined
        // Do not cache a result that may be outdated: a key was changed, or this token was looked up again.
        if (others.peek(token) !== entry) return key
        forget(token)
        if (key) known.set(token, { result: key, startedAt, ttl })
        else others.set(token, { result: key, startedAt, ttl: Math.min(ttl, UNKNOWN_TTL) })
        return key
      })
      .finally(() => {
        if (others.peek(token) === entry) others.delete(token)
      })
    const entry = { result, startedAt, ttl: SHARED_FOR }
    others.set(token, entry)
    return entry
  }

  function forget(token: string): void {
    known.delete(token)
    others.delete(token)
  }

  /** Calls a method that changes a key, and then removes the key from the cache. */
  async function change<T>(id: string, call: () => Promise<T>): Promise<T> {
    try {
      return await call()
    } finally {
      for (const [token, { result }] of known.entries()) if (result.id === id) known.delete(token)
      // Some stores return nothing for an expired key, which may be valid now. Look-ups in progress may return the old key.
      others.clear()
    }
  }

  if (!('issue' in store)) return { find, forget }
  const managed: ManagedKeyStore & KeyCache = {
    find,
    forget,
    list: () => store.list(),
    issue: async (issueOptions) => {
      const issued = await store.issue(issueOptions)
      others.delete(issued.token)
      return issued
    },
    update: (id, changes) => change(id, async () => store.update(id, changes)),
    revoke: (id) => change(id, async () => store.revoke(id)),
  }
  return managed
}

const RULES: OptionRules<keyof KeyCacheOptions> = {
  ttl: { expected: 'milliseconds, at least 0', check: (value) => typeof value === 'number' && value >= 0 },
  max: positiveIntegerRule,
  clock: clockRule,
}

export const keyCacheRule: OptionRule = {
  expected: 'false or { ttl, max, clock }',
  check: (value) => value === false || isObject(value),
  members: RULES,
}
