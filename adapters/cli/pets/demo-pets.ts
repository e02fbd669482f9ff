import { setImmediate } from 'node:timers/promises'
import type { PetMembers, PetStatus, PetStorage } from '../../../src/index.ts'

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
