import * as z from 'zod/mini'
import { isToken68 } from '../../keys/authenticate.ts'
import type { NewPet } from '../../model.ts'
import { type PetStoreOptions, resolvePlans, storeShape } from '../../options.ts'
import type { Clock } from '../../ports.ts'
import { expecting, type Shape } from '../../schemas/expected.ts'
import { int64 } from '../../schemas/int64.ts'
import { plan } from '../../schemas/key.ts'
import { invalidOption, listOf, optionsOf, textThat } from '../../schemas/options.ts'
import { parseOptions } from '../../schemas/parse-options.ts'
import { petStatus } from '../../schemas/pet.ts'
import type { ManualClock } from './clock.ts'

/** An animal that the store has from the start. */
export interface SeedPet extends Omit<NewPet, 'categoryId'> {
  /** The id of the category, an int64. @default 1n */
  readonly categoryId?: bigint | undefined
}

/**
 * The options of {@link createTestPetStore}: those of `createPetStore` without a back end, and the
 * initial animals and key.
 */
export interface TestPetStoreOptions<TheClock extends Clock = ManualClock>
  extends Omit<PetStoreOptions, 'storage' | 'keyStore' | 'quota' | 'clock'> {
  /**
   * The animals that the store has from the start; their ids are 1, 2, 3 and so on.
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

const seedPet = z.object(
  {
    name: z.string(expecting('a string')),
    categoryId: z._default(int64(), 1n),
    status: z.optional(petStatus()),
  } satisfies Shape<NewPet>,
  expecting('{ name, categoryId, status } with a bigint categoryId'),
)

const { storage: _storage, keyStore: _keyStore, quota: _quota, ...shared } = storeShape
const noPort = z.optional(z.undefined(expecting('none, because a test store has its own')))
interface ParsedOptions extends Omit<TestPetStoreOptions<Clock>, 'pets'> {
  readonly pets?: readonly NewPet[] | undefined
}
const testOptions = optionsOf<ParsedOptions>(
  {
    pets: z.optional(listOf<NewPet>(seedPet, 'an array of { name, categoryId, status }')),
    plan: z.optional(plan),
    token: z.optional(textThat(isToken68, 'a string of letters, digits and -._~+/')),
    ...shared,
  },
  { others: { storage: noPort, keyStore: noPort, quota: noPort } },
)

export function parseTestOptions(options: TestPetStoreOptions<Clock>) {
  const { plan = 'free', ...others } = parseOptions(testOptions, options)
  requireKnownPlan(plan, others.plans)
  return { plan, ...others }
}

function requireKnownPlan(plan: string, plans: PetStoreOptions['plans']): void {
  const known = resolvePlans(plans)
  if (!Object.hasOwn(known, plan))
    throw invalidOption('plan', `one of the plans ${Object.keys(known).join(', ')}; add others in option plans`, plan)
}
