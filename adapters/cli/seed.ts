import type { PetStorage } from '../../src/index.ts'
import { type PlaceFlags, withPlace } from './engines/back-end.ts'
import { addDemoPets, leaveTimeForOthers } from './serve/demo-data.ts'
import { printable } from './terminal/output.ts'

export interface SeedFlags extends PlaceFlags {
  readonly count: number
}

const PAGE = 1_000

/** Adds demo animals until the store has `count` animals, so that a repeated command continues after an interruption. */
export async function runSeed({ count, ...place }: SeedFlags): Promise<void> {
  await withPlace(place, async ({ storage, place }) => {
    const found = await countPets(storage, count)
    await addDemoPets(storage, found, count, { pause: leaveTimeForOthers })
    const total = found < count ? `is now ${count}` : `was already at least ${count}`
    console.log(printable(`Added ${Math.max(0, count - found)} animals to ${place}: the total ${total}.`))
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
