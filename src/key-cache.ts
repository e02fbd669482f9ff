import type { LRUCache } from 'lru-cache'
import { boundedMap } from './bounded-map.ts'
import type { ApiKey } from './model.ts'
import type { CallContext, Clock, KeyStore, ManagedKeyStore, MaybePromise } from './ports.ts'

/** The options of {@link cached}. */
export interface KeyCacheOptions {
  /** How long a key is answered from the cache, in milliseconds; 0 for never. @default 30000 */
  readonly ttl?: number | undefined
  /** How many keys are remembered, and as many unknown tokens beside them. @default 10000 */
  readonly max?: number | undefined
  /** The time, in milliseconds since the Unix epoch. @default Date */
  readonly clock?: Clock | undefined
}

/** An unknown token is remembered for less time than a key: it may just have been issued by another process. */
const UNKNOWN_TTL = 5_000

interface Entry {
  readonly key: ApiKey | undefined
  readonly readAt: number
}

/**
 * Puts a cache before a key store: one look-up for many requests at once, and none for a token seen lately.
 *
 * A key that is revoked through this store is refused at once. One that is revoked elsewhere is refused after `ttl` at the
 * latest, and a change of its plan counts as late.
 *
 * @example
 * ```ts
 * import { cached, createPetStore, type KeyStore } from 'petstore-kit'
 *
 * const ours: KeyStore = {
 *   find: async (token) => (token === 'letmein' ? { id: 'front-desk', plan: 'business' } : undefined),
 * }
 * const petStore = createPetStore({ keyStore: cached(ours, { ttl: 10_000 }) })
 * ```
 */
export function cached<Store extends KeyStore>(
  store: Store,
  options?: KeyCacheOptions,
): Store extends ManagedKeyStore ? ManagedKeyStore : KeyStore
export function cached(store: KeyStore | ManagedKeyStore, options: KeyCacheOptions = {}): KeyStore | ManagedKeyStore {
  const cache = new KeyCache(store, options)
  const find: KeyStore['find'] = (token, context) => cache.find(token, context)
  if (!('issue' in store)) return { find }
  return {
    find,
    list: () => store.list(),
    issue: async (issueOptions) => {
      const issued = await store.issue(issueOptions)
      cache.forgetToken(issued.token)
      return issued
    },
    revoke: async (id) => {
      try {
        return await store.revoke(id)
      } finally {
        cache.forgetKey(id)
      }
    },
  }
}

class KeyCache {
  readonly #store: KeyStore
  readonly #ttl: number
  readonly #clock: Clock
  readonly #known: LRUCache<string, Entry>
  readonly #unknown: LRUCache<string, Entry>
  /** Look-ups under way, which later requests of the same token join. Emptied when a key is revoked. */
  #lookUps = new Map<string, Promise<ApiKey | undefined>>()

  constructor(store: KeyStore, { ttl = 30_000, max = 10_000, clock = Date }: KeyCacheOptions) {
    this.#store = store
    this.#ttl = ttl
    this.#clock = clock
    this.#known = boundedMap(max)
    this.#unknown = boundedMap(max)
  }

  find(token: string, context?: CallContext): MaybePromise<ApiKey | undefined> {
    const known = this.#known.get(token)
    if (known !== undefined && this.#isFresh(known, this.#ttl)) return known.key
    const unknown = this.#unknown.get(token)
    if (unknown !== undefined && this.#isFresh(unknown, Math.min(this.#ttl, UNKNOWN_TTL))) return undefined
    return this.#lookUps.get(token) ?? this.#lookUp(token, context)
  }

  forgetToken(token: string): void {
    this.#unknown.delete(token)
  }

  forgetKey(id: string): void {
    for (const [token, { key }] of this.#known.entries()) if (key?.id === id) this.#known.delete(token)
    this.#lookUps = new Map()
  }

  /** A clock that was set back makes no entry fresher than it is. */
  #isFresh({ readAt }: Entry, ttl: number): boolean {
    const age = this.#clock.now() - readAt
    return age >= 0 && age < ttl
  }

  #lookUp(token: string, _context: CallContext | undefined): Promise<ApiKey | undefined> {
    const lookUps = this.#lookUps
    const readAt = this.#clock.now()
    const lookUp = Promise.resolve(this.#store.find(token))
      .then((key) => {
        if (lookUps === this.#lookUps) this.#remember(token, { key, readAt })
        return key
      })
      .finally(() => lookUps.delete(token))
    lookUps.set(token, lookUp)
    return lookUp
  }

  #remember(token: string, entry: Entry): void {
    this.#unknown.delete(token)
    this.#known.delete(token)
    const room = entry.key === undefined ? this.#unknown : this.#known
    room.set(token, entry)
  }
}
