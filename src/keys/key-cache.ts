import { LRUCache } from 'lru-cache'
import * as z from 'zod/mini'
import type { ApiKey } from '../model.ts'
import type { Clock, KeyStore, ManagedKeyStore, MaybePromise } from '../ports.ts'
import { expecting } from '../schemas/expected.ts'
import { clock, invalidOption, keyStore, optionsOf, positiveInteger } from '../schemas/options.ts'
import { parseOption, parseOptions } from '../schemas/parse-options.ts'
import { boundedMap } from '../support/bounded-map.ts'
import { sharedCalls } from '../support/shared-calls.ts'
import { systemClock } from '../support/time.ts'
import { wrapPort } from '../support/wrap-port.ts'
import { liveKey } from './key-state.ts'

/** The options of {@link cachedKeyStore}. */
export interface KeyCacheOptions {
  /** How long a key is cached, in milliseconds; 0 turns the cache off. @default 30000 */
  readonly ttl?: number | undefined
  /**
   * The largest number of cached keys, and also of cached tokens that have no key.
   * @default 10000
   */
  readonly max?: number | undefined
  /** The clock, in milliseconds since the Unix epoch. @default the system clock */
  readonly clock?: Clock | undefined
}

/** The cache of {@link cachedKeyStore}. */
export interface KeyCache {
  /**
   * Removes a key from the cache, by its token or by `{ id }`, so that the next request reads the
   * key again. Call it after you change a key elsewhere.
   * @throws {PetStoreError} `invalid_option` for anything else
   */
  forget(target: string | Pick<ApiKey, 'id'>): void
}

/**
 * How long a token without a key is cached, in milliseconds. This is short, because another process
 * may issue the key.
 */
const UNKNOWN_TTL = 5_000
/**
 * A token of twice this length counts as two entries, and so on. Otherwise, clients could fill the
 * memory with long tokens.
 */
const UNKNOWN_LENGTH = 256

/**
 * How long a request waits for the look-up of another request, in milliseconds, before it looks up
 * the token itself.
 */
const LONGEST_WAIT = 5_000

/** The result of a look-up. */
interface Entry {
  /** `undefined` for a token without a key. */
  readonly key: ApiKey | undefined
  /** When the look-up began, in milliseconds since the Unix epoch. */
  readonly readAt: number
}

/**
 * Returns a key store with a cache. Concurrent requests with the same token share one look-up. A
 * change through the returned store takes effect at once. Any other change, such as by another
 * process, takes effect after at most `ttl`, or after `forget`.
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
  parseOption('store', keyStore, store)
  const { ttl = 30_000, max = 10_000, clock = systemClock } = parseOptions(keyCacheOptions, options)
  const known: LRUCache<string, Entry & { readonly key: ApiKey }> = boundedMap(max)
  /**
   * Tokens without a key. They are not in `known`, where made-up tokens could push out real ones.
   */
  const unknown: LRUCache<string, Entry> = new LRUCache({
    maxSize: max * UNKNOWN_LENGTH,
    sizeCalculation: (_, token) => Math.max(token.length, UNKNOWN_LENGTH),
  })
  const lookUps = sharedCalls(lookUp, { max, longestWait: LONGEST_WAIT, clock })

  function find(token: string): MaybePromise<ApiKey | undefined> {
    const found = known.get(token)
    if (found && isFresh(found, ttl)) return liveKey(found.key, clock.now())
    const missed = unknown.get(token)
    if (missed && isFresh(missed, Math.min(ttl, UNKNOWN_TTL))) return undefined
    return lookUps.run(token)
  }

  function isFresh({ readAt }: Entry, longest: number): boolean {
    const age = clock.now() - readAt
    return age >= 0 && age < longest
  }

  /**
   * Calls the key store without a signal: if one client disconnects, other requests may still need
   * the result.
   */
  async function lookUp(token: string, isDropped: () => boolean): Promise<ApiKey | undefined> {
    const readAt = clock.now()
    // For an unknown token, a key store may return `null`; a store in plain JavaScript may also
    // return `false`.
    const key = (await store.find(token)) || undefined
    // A dropped result may be outdated: a key was changed, or this token was looked up again.
    if (!isDropped()) keep(token, key, readAt)
    return liveKey(key, clock.now())
  }

  function keep(token: string, key: ApiKey | undefined, readAt: number): void {
    if (key) {
      known.set(token, { key, readAt })
      unknown.delete(token)
    } else {
      known.delete(token)
      unknown.set(token, { key, readAt })
    }
  }

  function forgetToken(token: string): void {
    known.delete(token)
    unknown.delete(token)
    lookUps.drop(token)
  }

  function forgetId(id: string): void {
    for (const [token, { key }] of known.entries()) if (key.id === id) known.delete(token)
    // An expired key is cached as unknown, and a look-up in progress may return the old key. So
    // drop all of both.
    forgetUnknown()
  }

  function forgetUnknown(): void {
    unknown.clear()
    lookUps.drop()
  }

  function forget(target: string | Pick<ApiKey, 'id'>): void {
    if (typeof target === 'string') forgetToken(target)
    else if (typeof target?.id === 'string') forgetId(target.id)
    else throw invalidOption('target', 'a token, or an object with the id of a key', target)
  }

  /** Calls a method that changes a key, and then removes the key from the cache. */
  async function change<T>(call: () => Promise<T>, id: string): Promise<T> {
    try {
      return await call()
    } finally {
      forgetId(id)
    }
  }

  const changing = wrapPort(store as ManagedKeyStore, {
    async issue(call) {
      const issued = await call()
      // Somebody may have sent the token before it was issued, if the store lets the caller choose
      // it.
      forgetToken(issued.token)
      return issued
    },
    async adopt(call) {
      const key = await call()
      // The customer may have sent the token before it was adopted.
      forgetUnknown()
      return key
    },
    update: change,
    rotate: change,
    suspend: change,
    resume: change,
    revoke: change,
    remove: change,
  })
  return { ...changing, find, forget }
}

/** With `ttl: Infinity`, keys stay until they are forgotten. `z.number` would reject `Infinity`. */
const keyCacheOptions = optionsOf<KeyCacheOptions>({
  ttl: z.optional(
    z.custom<number>((value) => typeof value === 'number' && value >= 0, expecting('milliseconds, at least 0')),
  ),
  max: z.optional(positiveInteger),
  clock: z.optional(clock),
})

/** The option `keyCache` of back ends. */
export const keyCache = z.union([z.literal(false), keyCacheOptions], expecting('false or { ttl, max, clock }'))
