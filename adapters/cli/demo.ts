import { setImmediate } from 'node:timers/promises'
import type { IssuedKey, ManagedKeyStore, NewPet, PetStorage } from '../../src/index.ts'
import { contractPlans, type PlanLimitsByName } from './flags.ts'
import { progressBar } from './progress.ts'

const NAMES = ['Rex', 'Misty', 'Bubbles', 'Nibbles', 'Kiwi', 'Shelly', 'Ziggy', 'Pepper', 'Coco', 'Biscuit']
const STATUSES = ['available', 'available', 'pending', 'sold'] as const
const CATEGORIES = 5

/** The plan of the contract whose limits are agreed individually: in the demo, these. */
const ENTERPRISE = { perMinute: 10_000, perDay: 1_000_000 }

/** The animal of that number among the demo animals, counted from 0. */
function demoPet(index: number): NewPet {
  const round = Math.floor(index / NAMES.length)
  const name = NAMES[index % NAMES.length] as string
  return {
    name: round === 0 ? name : `${name} ${round + 1}`,
    categoryId: BigInt((index % CATEGORIES) + 1),
    status: STATUSES[index % STATUSES.length] as NewPet['status'],
  }
}

/** A storage may have a faster way to add many. */
type Bulk = PetStorage & { createMany?(pets: readonly NewPet[]): Promise<unknown> }

const BATCH = 1_000

/** Adds the demo animals from one number to before another, many at once, and shows on a terminal how far it is. */
export async function seed(storage: Bulk, from: number, to: number, ending?: AbortSignal): Promise<void> {
  const progress = progressBar(to)
  try {
    for (let index = from; index < to && !ending?.aborted; index += BATCH) {
      progress.show(index)
      await addAll(
        storage,
        Array.from({ length: Math.min(BATCH, to - index) }, (_, i) => demoPet(index + i)),
      )
      // Signals and requests get their turn, also where nothing is waited for.
      await setImmediate()
    }
  } finally {
    progress.end()
  }
}

async function addAll(storage: Bulk, pets: readonly NewPet[]): Promise<void> {
  if (storage.createMany) await storage.createMany(pets)
  else await Promise.all(pets.map(async (pet) => storage.create(pet)))
}

/** Issues one key for each plan. */
export async function issueDemoKeys(keyStore: ManagedKeyStore, planLimits: PlanLimitsByName): Promise<IssuedKey[]> {
  const plans = new Set([...contractPlans, ...Object.keys(planLimits)])
  const limitsOf = (plan: string) => planLimits[plan] ?? (plan === 'enterprise' ? ENTERPRISE : undefined)
  return Promise.all(
    [...plans].map((plan) => keyStore.issue({ plan, label: `demo key, ${plan}`, limits: limitsOf(plan) })),
  )
}
