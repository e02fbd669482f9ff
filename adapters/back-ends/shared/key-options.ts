import { type Clock, cachedKeyStore, type KeyCacheOptions, type ManagedKeyStore } from '../../../src/index.ts'
import { keyCacheRule } from '../../../src/keys/key-cache.ts'
import { planNamesRule } from '../../../src/support/option-rules.ts'

/** The options of every back end that stores keys. */
export interface KeyOptions {
  /** How API keys are cached in this process; `false` turns the cache off. @default { ttl: 30000, max: 10000 } */
  readonly keyCache?: KeyCacheOptions | false | undefined
  /** The names of your own plans, which `issue` accepts besides `free`, `pro` and `business`. @default [] */
  readonly plans?: readonly string[] | undefined
}

export const keyRules = { keyCache: keyCacheRule, plans: planNamesRule }

export function cachedBy({ keyCache = {} }: KeyOptions, store: ManagedKeyStore, clock?: Clock): ManagedKeyStore {
  return keyCache === false ? store : cachedKeyStore(store, { clock, ...keyCache })
}
