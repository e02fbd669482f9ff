import {
  type Clock,
  cached,
  type KeyCacheOptions,
  type ManagedKeyStore,
  type PetStorage,
  type QuotaStore,
} from '../../../src/index.ts'
import { keyCacheRule } from '../../../src/keys/key-cache.ts'
import { checkOptions, clockRule, type OptionRules } from '../../../src/support/option-rules.ts'
import { systemClock } from '../../../src/support/system-clock.ts'
import { type D1Database, engineOf } from './database.ts'
import { d1KeyStore } from './keys.ts'
import { migrate } from './migrate.ts'
import { d1Quota } from './quota.ts'
import { d1Storage } from './storage.ts'

export type { D1Database, D1Statement } from './database.ts'

/** The options of {@link d1}. */
export interface D1Options {
  /** How keys are cached in this isolate; `false` for not at all. @default { ttl: 30000, max: 10000 } */
  readonly keyCache?: KeyCacheOptions | false | undefined
  /**
   * The time, for tests, in milliseconds since the Unix epoch.
   *
   * @default the database's for counts, so that all Workers count alike; the system's for keys
   */
  readonly clock?: Clock | undefined
}

/** A back end on Cloudflare D1. */
export interface D1BackEnd {
  /** The animals. Their ids become visible in ascending order. */
  readonly storage: PetStorage
  /** The keys. Only the SHA-256 of a token is stored. */
  readonly keyStore: ManagedKeyStore
  /** The counts, one row per subject. */
  readonly quota: QuotaStore
  /**
   * Creates the tables, or brings them up to date, if `wrangler d1 migrations apply` does not. Several Workers may call it at once.
   *
   * @throws {PetStoreError} `invalid_option` if the tables belong to a later release; `service_unavailable` if D1 cannot be reached
   */
  migrate(): Promise<void>
}

const RULES: OptionRules<keyof D1Options> = { keyCache: keyCacheRule, clock: clockRule }

/**
 * Keeps animals, keys and counts in Cloudflare D1, for any number of Workers. Each operation is one round trip.
 *
 * Create the store once for all requests of an isolate. The tables' names begin with `petstore_`.
 *
 * @param database - a D1 binding, such as `env.DB`
 * @throws {PetStoreError} `invalid_option`, with the name of the option
 * @example
 * ```ts
 * import { createPetStore, type PetStore } from 'petstore-kit'
 * import { type D1Database, d1 } from 'petstore-kit/d1'
 *
 * let petStore: PetStore | undefined
 * export default {
 *   fetch(request: Request, env: { DB: D1Database }) {
 *     petStore ??= createPetStore({ ...d1(env.DB) })
 *     return petStore.fetch(request)
 *   },
 * }
 * ```
 */
export function d1(database: D1Database, options: D1Options = {}): D1BackEnd {
  checkOptions(RULES, options)
  const { keyCache = {}, clock } = options
  const engine = engineOf(database)
  const keyStore = d1KeyStore(engine, clock ?? systemClock)
  return {
    storage: d1Storage(engine),
    keyStore: keyCache === false ? keyStore : cached(keyStore, { clock, ...keyCache }),
    quota: d1Quota(engine, clock),
    migrate: () => migrate(engine),
  }
}
