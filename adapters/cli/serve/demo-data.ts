import { setImmediate, setTimeout } from 'node:timers/promises'
import type { IssuedKey, ManagedKeyStore, NewPet, PetStorage } from '../../../src/index.ts'
import { isPersistent, type PlanLimitsByName } from '../engines/back-end.ts'
import type { OpenedBackEnd } from '../engines/driver.ts'
import { demoLimits, knownPlans, type ServeFlags } from '../terminal/flags.ts'

const NAMES = ['Rex', 'Misty', 'Bubbles', 'Nibbles', 'Kiwi', 'Shelly', 'Ziggy', 'Pepper', 'Coco', 'Biscuit']
const STATUSES = ['available', 'available', 'pending', 'sold'] as const
const CATEGORIES = 5

export function demoPet(index: number): NewPet {
  const round = Math.floor(index / NAMES.length)
  const name = NAMES[index % NAMES.length] as string
  return {
    name: round === 0 ? name : `${name} ${round + 1}`,
    categoryId: BigInt((index % CATEGORIES) + 1),
    status: STATUSES[index % STATUSES.length] as NewPet['status'],
  }
}

const BATCH = 500

export interface AddOptions {
  readonly signal?: AbortSignal | undefined
  /** Called with the milliseconds that a batch took. The next batch waits for the returned promise. @default `setImmediate` */
  readonly pause?: ((batchTime: number) => Promise<unknown>) | undefined
}

/** Adds the demo animals with the indexes `from` to `to - 1`. */
export async function addDemoPets(
  storage: PetStorage,
  from: number,
  to: number,
  { signal, pause = () => setImmediate() }: AddOptions = {},
): Promise<void> {
  for (let index = from; index < to && !signal?.aborted; index += BATCH) {
    const startedAt = performance.now()
    const pets = Array.from({ length: Math.min(BATCH, to - index) }, (_, i) => demoPet(index + i))
    await Promise.all(pets.map(async (pet) => storage.create(pet)))
    await pause(performance.now() - startedAt)
  }
}

/** Waits as long as the last batch took, so that a server with the same database can write in that time. */
export function leaveTimeForOthers(batchTime: number): Promise<void> {
  return setTimeout(Math.max(10, batchTime))
}

export async function issueDemoKeys(keyStore: ManagedKeyStore, planLimits: PlanLimitsByName): Promise<IssuedKey[]> {
  const keyOf = (plan: string) => ({ plan, label: `demo key, ${plan}`, limits: demoLimits(plan, planLimits) })
  return Promise.all(knownPlans(planLimits).map((plan) => keyStore.issue(keyOf(plan))))
}

export const DEMO_ANIMALS = 8

export interface AddedData {
  /** The number of animals in the store; `undefined` if the store may have contained animals before. */
  readonly animals: number | undefined
  readonly keys: readonly IssuedKey[]
}

/**
 * Adds demo animals and keys if the store has none. In a file or database, this happens only with `--demo`. With `--seed` but not
 * `--demo`, a file or database gets animals but no keys.
 *
 * @param closing - if this signal aborts, the new keys are revoked, because nobody will see their tokens
 */
export async function addDemoData(
  { storage, keyStore }: Pick<OpenedBackEnd, 'storage' | 'keyStore'>,
  flags: Pick<ServeFlags, 'data' | 'databaseUrl' | 'demo' | 'seed' | 'planLimits' | 'key'>,
  closing: AbortSignal,
): Promise<AddedData> {
  const isWanted = flags.demo || !isPersistent(flags)
  const animals = flags.seed ?? (isWanted ? DEMO_ANIMALS : 0)
  const isEmpty = animals > 0 && (await storage.list({ limit: 1 })).length === 0
  const pause = isPersistent(flags) ? leaveTimeForOthers : undefined
  if (isEmpty) await addDemoPets(storage, 0, animals, { signal: closing, pause })
  // Without a wish for demo keys, no keys are read: there may be very many.
  const isWithoutKeys = isWanted && (await keyStore.list()).length === 0
  const keys = isWithoutKeys && !closing.aborted ? await issueDemoKeys(keyStore, flags.planLimits) : []
  if (closing.aborted) await Promise.all(keys.map(({ key }) => keyStore.revoke(key.id)))
  const inStore = isPersistent(flags) ? undefined : 0
  return { animals: isEmpty ? animals : inStore, keys }
}
