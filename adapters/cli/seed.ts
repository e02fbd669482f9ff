import { setImmediate, setTimeout } from 'node:timers/promises'
import type { PetMembers, PetStatus, PetStorage } from '../../src/index.ts'
import { withDatabase } from './engines/back-end.ts'
import type { DatabaseFlags } from './terminal/flags.ts'
import { printable } from './terminal/output.ts'

export interface SeedFlags extends DatabaseFlags {
  readonly count: number
}

const PAGE = 1_000

/**
 * Adds demo animals until the store has `count` animals, so that a repeated command continues after
 * an interruption.
 */
export async function runSeed({ count, ...database }: SeedFlags): Promise<void> {
  await withDatabase(database, async ({ storage, name }) => {
    const found = await countPets(storage, count)
    await addDemoPets(storage, found, count, { pause: leaveTimeForOthers })
    const total = found < count ? `is now ${count}` : `was already at least ${count}`
    console.log(printable(`Added ${Math.max(0, count - found)} animals to ${name}: the total ${total}.`))
  })
}

/** Returns the number of animals. Stops counting when there are at least `enough`. */
async function countPets(storage: PetStorage, enough: number): Promise<number> {
  let after: bigint | undefined
  let count = 0
  while (count < enough) {
    const page = await storage.list({ limit: PAGE, after })
    count += page.length
    after = page.at(-1)?.id
    if (page.length < PAGE) break
  }
  return count
}

const NAMES = ['Rex', 'Misty', 'Bubbles', 'Nibbles', 'Kiwi', 'Shelly', 'Ziggy', 'Pepper', 'Coco', 'Biscuit']
const STATUSES = ['available', 'available', 'pending', 'sold'] as const
const CATEGORIES = 5

export function demoPet(index: number): PetMembers {
  const round = Math.floor(index / NAMES.length)
  const name = NAMES[index % NAMES.length] as string
  return {
    name: round === 0 ? name : `${name} ${round + 1}`,
    categoryId: BigInt((index % CATEGORIES) + 1),
    status: STATUSES[index % STATUSES.length] as PetStatus,
  }
}

const BATCH = 500

export interface AddOptions {
  readonly signal?: AbortSignal | undefined
  /**
   * Called with the milliseconds that a batch took. The next batch waits for the returned promise.
   * @default `setImmediate`
   */
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

/**
 * Waits as long as the last batch took, so that a server with the same database can write in that
 * time.
 */
export function leaveTimeForOthers(batchTime: number): Promise<void> {
  return setTimeout(Math.max(10, batchTime))
}
