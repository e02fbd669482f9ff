import type { IssuedKey, ManagedKeyStore, NewPet, PetStorage } from '../../src/index.ts'
import { contractPlans, type PlanLimitsByName } from './flags.ts'

const NAMES = ['Rex', 'Misty', 'Bubbles', 'Nibbles', 'Kiwi', 'Shelly', 'Ziggy', 'Pepper', 'Coco', 'Biscuit']
const STATUSES = ['available', 'available', 'pending', 'sold'] as const
const CATEGORIES = 5

/** The plan of the contract whose limits are agreed individually: in the demo, these. */
const ENTERPRISE = { perMinute: 10_000, perDay: 1_000_000 }

/** The animal of that number among the demo animals, counted from 0. */
export function demoPet(index: number): NewPet {
  const round = Math.floor(index / NAMES.length)
  const name = NAMES[index % NAMES.length] as string
  return {
    name: round === 0 ? name : `${name} ${round + 1}`,
    categoryId: BigInt((index % CATEGORIES) + 1),
    status: STATUSES[index % STATUSES.length] as NewPet['status'],
  }
}

/** Adds demo animals. */
export async function seed(storage: PetStorage, count: number): Promise<void> {
  for (let index = 0; index < count; index++) await storage.create(demoPet(index))
}

/** Issues one key for each plan. */
export async function issueDemoKeys(keyStore: ManagedKeyStore, planLimits: PlanLimitsByName): Promise<IssuedKey[]> {
  const plans = new Set([...contractPlans, ...Object.keys(planLimits)])
  const limitsOf = (plan: string) => planLimits[plan] ?? (plan === 'enterprise' ? ENTERPRISE : undefined)
  return Promise.all(
    [...plans].map((plan) => keyStore.issue({ plan, label: `demo key, ${plan}`, limits: limitsOf(plan) })),
  )
}
