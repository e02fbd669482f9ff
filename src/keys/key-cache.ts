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
/** How many characters of a token count as one entry. Without this rule, clients could fill the memory with long tokens. */
const UNKNOWN_LENGTH = 256
/** How long later requests with its token share a look-up, in milliseconds. After a lost connection, a look-up may never end. */
const JOINED_FOR = 5_000
/** The result of a look-up that takes longer than this, in milliseconds, is not cached. */
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
 * Returns a key store with a cache. Requests with the same token at the same time cause one look-up together. A change through the
 * returned store takes effect at once. A change by another process takes effect after at most `ttl`, or after `forget`.
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
  /** When each token without a key was looked up. */
  const unknown = boundedByLength<number>(max)
  /** Look-ups in progress. A change of a key replaces this map: older look-ups may return the old key, so they cache nothing. */
  let lookUps = boundedByLength<LookUp>(max)

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

  /** Starts a look-up without a signal: if one client disconnects, other requests may still need the result. */
  function startLookUp(token: string): Promise<ApiKey | undefined> {
    const current = lookUps
    const startedAt = clock.now()
    const result = (async () => store.find(token))()
      .then((found) => {
        // A key store may return `null`, or `false` in plain JavaScript.
        const key = found || undefined
        // After a change of a key, or a later look-up of this token, the result may be outdated.
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

  /** Removes look-ups that will probably never end. `rentries` begins with the oldest. */
  function forgetLost(now: number): void {
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
    // `startLookUp` does not cache the result of a look-up that is no longer in the map.
    lookUps.delete(token)
  }

  /** Calls a method that changes a key, and then removes the key from the cache. */
  async function change<T>(id: string, call: () => Promise<T>): Promise<T> {
    try {
      return await call()
    } finally {
      for (const [token, { key }] of known.entries()) if (key.id === id) known.delete(token)
      // The change may have made an expired key valid, but the cache still says that its token has no key.
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
  max: positiveIntegerRule,
  clock: clockRule,
}

export const keyCacheRule: OptionRule = {
  expected: 'false or { ttl, max, clock }',
  check: (value) => value === false || isObject(value),
  members: RULES,
}

function boundedByLength<Value extends object | number>(max: number): LRUCache<string, Value> {
  const sizeCalculation = (_: Value, token: string) => Math.max(token.length, UNKNOWN_LENGTH)
  return new LRUCache({ maxSize: max * UNKNOWN_LENGTH, sizeCalculation })
}
