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
import { systemClock } from '../support/system-clock.ts'

/** The options of {@link cached}. */
export interface KeyCacheOptions {
  /** How long a key is answered from the cache, in milliseconds; 0 for never. @default 30000 */
  readonly ttl?: number | undefined
  /** How many keys are remembered, and as many unknown tokens beside them. @default 10000 */
  readonly max?: number | undefined
  /** The time, in milliseconds since the Unix epoch. @default the system's */
  readonly clock?: Clock | undefined
}

/** An unknown token is remembered for less time than a key: it may just have been issued by another process. */
const UNKNOWN_TTL = 5_000
/** How long unknown tokens may be, in characters, before there is room for fewer of them: ours have 53. */
const UNKNOWN_LENGTH = 256
/** A look-up that takes longer than this is joined by nobody else: it may be lost, with the connection it was sent on. */
const JOINED_FOR = 5_000
/** What it brings is remembered for as long as this; then it is forgotten, as one that is lost never ends. */
const AWAITED_FOR = 60_000

interface Entry {
  readonly key: ApiKey | undefined
  readonly readAt: number
}

interface LookUp {
  readonly result: Promise<ApiKey | undefined>
  readonly startedAt: number
}

/**
 * Puts a cache before a key store: one look-up for many requests at once, and none for a token seen lately.
 *
 * A key that is revoked through this store is refused at once. One that is revoked elsewhere is refused after `ttl` at the
 * latest, and a change of its plan counts as late.
 *
 * @throws {PetStoreError} `invalid_option`
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
  if (!keyStoreRule.check(store)) throw invalidOption('store', keyStoreRule.expected, store)
  const cache = new KeyCache(store, options)
  const find: KeyStore['find'] = (token) => cache.find(token)
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

const RULES: OptionRules<keyof KeyCacheOptions> = {
  ttl: { expected: 'milliseconds, at least 0', check: (value) => typeof value === 'number' && value >= 0 },
  max: countRule,
  clock: clockRule,
}

/** What is expected of how a back end caches keys. */
export const keyCacheRule: OptionRule = {
  expected: 'false or { ttl, max, clock }',
  check: (value) => value === false || isObject(value),
  members: RULES,
}

class KeyCache {
  readonly #store: KeyStore
  readonly #ttl: number
  readonly #clock: Clock
  readonly #known: LRUCache<string, Entry>
  readonly #unknown: LRUCache<string, Entry>
  /** Look-ups under way, which later requests of the same token join. Others when a key is revoked. */
  #lookUps: LRUCache<string, LookUp>
  readonly #max: number

  constructor(store: KeyStore, options: KeyCacheOptions) {
    checkOptions(RULES, options)
    const { ttl = 30_000, max = 10_000, clock = systemClock } = options
    this.#store = store
    this.#ttl = ttl
    this.#clock = clock
    this.#known = boundedMap(max)
    this.#unknown = boundedByLength(max)
    this.#lookUps = boundedByLength(max)
    this.#max = max
  }

  find(token: string): MaybePromise<ApiKey | undefined> {
    const known = this.#known.get(token)
    if (known !== undefined && this.#isFresh(known.readAt, this.#ttl)) return known.key
    const unknown = this.#unknown.get(token)
    if (unknown !== undefined && this.#isFresh(unknown.readAt, Math.min(this.#ttl, UNKNOWN_TTL))) return undefined
    const lookUp = this.#lookUps.peek(token)
    return lookUp !== undefined && this.#isFresh(lookUp.startedAt, JOINED_FOR) ? lookUp.result : this.#lookUp(token)
  }

  forgetToken(token: string): void {
    this.#unknown.delete(token)
  }

  forgetKey(id: string): void {
    for (const [token, { key }] of this.#known.entries()) if (key?.id === id) this.#known.delete(token)
    this.#lookUps = boundedByLength(this.#max)
  }

  /** A clock that was set back makes nothing fresher than it is. */
  #isFresh(since: number, length: number): boolean {
    const age = this.#clock.now() - since
    return age >= 0 && age < length
  }

  /** Many callers may wait for it, so it is not bound to the client of any. */
  #lookUp(token: string): Promise<ApiKey | undefined> {
    const lookUps = this.#lookUps
    const startedAt = this.#clock.now()
    const result = Promise.resolve(this.#store.find(token))
      .then((found) => {
        // A database's row may be `null`, and a condition in plain JavaScript leaves `false`.
        const key = found || undefined
        // One that was overtaken, by a revocation or by a later look-up, may have read what no longer holds.
        if (lookUps === this.#lookUps && lookUps.peek(token) === lookUp)
          this.#remember(token, { key, readAt: startedAt })
        return key
      })
      .finally(() => {
        if (lookUps.peek(token) === lookUp) lookUps.delete(token)
      })
    const lookUp = { result, startedAt }
    this.#forgetLost()
    lookUps.delete(token)
    lookUps.set(token, lookUp)
    return result
  }

  #forgetLost(): void {
    const now = this.#clock.now()
    // From the oldest on.
    for (const [token, { startedAt }] of this.#lookUps.rentries() as Iterable<[string, LookUp]>) {
      if (Math.abs(now - startedAt) < AWAITED_FOR) break
      this.#lookUps.delete(token)
    }
  }

  #remember(token: string, entry: Entry): void {
    this.#unknown.delete(token)
    this.#known.delete(token)
    const room = entry.key === undefined ? this.#unknown : this.#known
    room.set(token, entry)
  }
}

/** A token that nobody knows may be as long as a header: these are bounded by their characters as well. */
function boundedByLength<Value extends object>(max: number): LRUCache<string, Value> {
  const sizeCalculation = (_: Value, token: string) => Math.max(token.length, UNKNOWN_LENGTH)
  return new LRUCache({ maxSize: max * UNKNOWN_LENGTH, sizeCalculation })
}
