import * as z from 'zod/mini'
import { isToken68 } from '../../keys/authenticate.ts'
import { type PetStoreOptions, resolvePlans, storeShape } from '../../options.ts'
import type { Clock } from '../../ports.ts'
import { expecting } from '../../schemas/expected.ts'
import { hostInt64 } from '../../schemas/int64.ts'
import { plan } from '../../schemas/key.ts'
import { invalidOption, optionsOf, textThat } from '../../schemas/options.ts'
import { parseOption, parseOptions } from '../../schemas/parse-options.ts'
import {
  hostMembers,
  type InitialPet,
  type NewPetRules,
  type ParsedInitialPet,
  petsWithIds,
} from '../../schemas/pet.ts'
import type { ManualClock } from './clock.ts'

/** An animal that the store has from the start. */
export interface SeedPet extends Omit<InitialPet, 'categoryId'> {
  /** The id of the category, an int64. @default 1n */
  readonly categoryId?: bigint | number | undefined
}

/**
 * The options of {@link createTestPetStore}: those of `createPetStore` without a back end, and the
 * initial animals and key.
 */
export interface TestPetStoreOptions<TheClock extends Clock = ManualClock>
  extends Omit<PetStoreOptions, 'storage' | 'keyStore' | 'quota' | 'clock'> {
  /**
   * The animals that the store has from the start. Without ids of their own, these are 1, 2, 3 and so on.
   * @default none
   */
  readonly pets?: readonly SeedPet[] | undefined
  /** The plan of the API key. @default 'free' */
  readonly plan?: string | undefined
  /** The token of the API key. @default a new token */
  readonly token?: string | undefined
  /**
   * The clock: a {@link ManualClock}, or any object with `now`. With `Date`, the store follows the
   * fake timers of vitest, Jest and node:test, even if they start later.
   * @default a {@link ManualClock} that starts at the system time and stands still
   */
  readonly clock?: TheClock | undefined
}

const { storage: _storage, keyStore: _keyStore, quota: _quota, ...shared } = storeShape
const noPort = z.optional(z.undefined(expecting('none, because a test store has its own')))
const testOptions = optionsOf<TestPetStoreOptions<Clock>>(
  {
    // Checked by `seedPets` alone: its rules depend on other options.
    pets: z.optional(z.any()),
    plan: z.optional(plan),
    token: z.optional(textThat(isToken68, 'a string of letters, digits and -._~+/')),
    ...shared,
  },
  { others: { storage: noPort, keyStore: noPort, quota: noPort } },
)

export function parseTestOptions(options: TestPetStoreOptions<Clock>) {
  const { pets = [], plan = 'free', ...others } = parseOptions(testOptions, options)
  requireKnownPlan(plan, others.plans)
  return { pets: parseOption('pets', seedPets(others), pets), plan, ...others }
}

function seedPets(rules: NewPetRules) {
  const members = { ...hostMembers(rules), categoryId: z._default(hostInt64(), 1n), id: z.optional(hostInt64(1n)) }
  return petsWithIds(
    optionsOf<ParsedInitialPet>(members, { expected: 'an animal with name, perhaps with categoryId, id and status' }),
  )
}

function requireKnownPlan(plan: string, plans: PetStoreOptions['plans']): void {
  const known = resolvePlans(plans)
  if (!Object.hasOwn(known, plan))
    throw invalidOption('plan', `one of the plans ${Object.keys(known).join(', ')}; add others in option plans`, plan)
}
