import * as z from 'zod/mini'
import type { Clock, ManagedBackEnd } from '../ports.ts'
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
}

const memoryOptions = optionsOf<MemoryOptions>({
  // Checked by `initialPets` alone: in an object, zod cannot report more than about 100,000 problems.
  pets: z.optional(z.any()),
  clock: z.optional(clock),
  maxCustomers: z.optional(positiveInteger),
  maxAddresses: z.optional(positiveInteger),
})

/**
 * Creates the default back end. All data is in memory, and is lost when the process ends.
 * @throws {PetStoreError} `invalid_option`
 * @example
 * ```ts
 * import { createPetStore, memory } from 'petstore-kit'
 *
 * const petStore = createPetStore({ ...memory() })
 * const { token, key } = await petStore.keys.issue({ plan: 'pro', label: 'my first key' })
 * await petStore.pets.add({ name: 'Rex', categoryId: 1 })
 * ```
 */
export function memory(options: MemoryOptions = {}): ManagedBackEnd {
  const { pets = [], clock = systemClock, maxCustomers, maxAddresses } = parseOptions(memoryOptions, options)
  return {
    storage: memoryStorage(clock, parseOption('pets', initialPets, pets)),
    keyStore: memoryKeyStore(clock),
    quota: memoryQuota(maxCustomers, maxAddresses),
  }
}
