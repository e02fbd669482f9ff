import type { Clock, ManagedKeyStore, PetStorage, QuotaStore } from '../ports.ts'
import { checkOptions, clockRule, countRule } from '../support/option-rules.ts'
import { systemClock } from '../support/system-clock.ts'
import { memoryKeyStore } from './keys.ts'
import { memoryQuota } from './quota.ts'
import { memoryStorage } from './storage.ts'

/** The options of {@link memory}. */
export interface MemoryOptions {
  /** The time, in milliseconds since the Unix epoch. @default the system's */
  readonly clock?: Clock | undefined
  /** How many customers' counts are kept; past that, those who came longest ago start anew. @default 100000 */
  readonly maxCustomers?: number | undefined
  /** How many strangers' counts are kept, by address. @default 10000 */
  readonly maxAddresses?: number | undefined
}

const RULES = { clock: clockRule, maxCustomers: countRule, maxAddresses: countRule }

/**
 * The default back end: all in memory, gone when the process ends.
 *
 * @throws {PetStoreError} `invalid_option`
 * @example
 * ```ts
 * import { createPetStore, memory } from 'petstore-kit'
 *
 * const backEnd = memory()
 * const { token, key } = await backEnd.keyStore.issue({ plan: 'pro', label: 'my first key' })
 * await backEnd.storage.create({ name: 'Rex', categoryId: 1n, status: 'available' })
 * const petStore = createPetStore({ ...backEnd })
 * ```
 */
export function memory(options: MemoryOptions = {}): {
  storage: PetStorage
  keyStore: ManagedKeyStore
  quota: QuotaStore
} {
  checkOptions(RULES, options)
  const { clock = systemClock, maxCustomers = 100_000, maxAddresses = 10_000 } = options
  return {
    storage: memoryStorage(),
    keyStore: memoryKeyStore(clock),
    quota: memoryQuota(maxCustomers, maxAddresses),
  }
}
