import * as z from 'zod/mini'
import type { Clock, ManagedBackEnd } from '../ports.ts'
import { planNames } from '../schemas/key.ts'
import { clock, optionsOf, positiveInteger } from '../schemas/options.ts'
import { parseOption, parseOptions } from '../schemas/parse-options.ts'
import { type InitialPet, initialPets } from '../schemas/pet.ts'
import { systemClock } from '../support/time.ts'
import { memoryKeyStore } from './keys.ts'
import { memoryQuota } from './quota.ts'
import { memoryStorage } from './storage.ts'

/** The options of {@link memory}. */
export interface MemoryOptions {
  /**
   * The animals that the store has from the start, checked by the default rules of `createPetStore`.
   * @default none
   */
  readonly pets?: readonly InitialPet[] | undefined
  /** The clock, in milliseconds since the Unix epoch. @default the system clock */
  readonly clock?: Clock | undefined
  /**
   * The largest number of counters of keys and accounts. The least recently used ones are removed
   * first.
   * @default 100000
   */
  readonly maxCustomers?: number | undefined
  /**
   * The largest number of counters of client addresses. They count requests without a valid key.
   * @default 10000
   */
  readonly maxAddresses?: number | undefined
  /**
   * The names of your own plans, which `issue` then accepts, as it accepts `free`, `pro` and
   * `business`.
   * @default []
   */
  readonly plans?: readonly string[] | undefined
}

const memoryOptions = optionsOf<MemoryOptions>({
  // Checked by `initialPets` alone: in an object, zod cannot report more than about 100,000 problems.
  pets: z.optional(z.any()),
  clock: z.optional(clock),
  maxCustomers: z.optional(positiveInteger),
  maxAddresses: z.optional(positiveInteger),
  plans: z.optional(planNames),
})

/**
 * Creates the default back end. All data is in memory, and is lost when the process ends.
 * @throws {PetStoreError} `invalid_option`
 * @example
 * ```ts
 * import { createPetStore, memory } from 'petstore-kit'
 *
 * const backEnd = memory()
 * const { token, key } = await backEnd.keyStore.issue({ plan: 'pro', label: 'my first key' })
 * const petStore = createPetStore({ ...backEnd })
 * await petStore.pets.add({ name: 'Rex', categoryId: 1 })
 * ```
 */
export function memory(options: MemoryOptions = {}): ManagedBackEnd {
  const { pets = [], clock = systemClock, maxCustomers, maxAddresses, plans } = parseOptions(memoryOptions, options)
  return {
    storage: memoryStorage(clock, parseOption('pets', initialPets, pets)),
    keyStore: memoryKeyStore(clock, plans),
    quota: memoryQuota(maxCustomers, maxAddresses),
  }
}
