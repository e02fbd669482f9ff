import type { PetStorage } from '../../src/index.ts'
import { type PlaceFlags, withPlace } from './back-end.ts'
import { seed } from './demo.ts'

/** The flags of `petstore seed`. */
export interface SeedFlags extends PlaceFlags {
  readonly count: number
}

const COUNTED_AT_ONCE = 1_000

/** Fills a catalogue up to so many animals. One that was broken off is taken up where it stopped. */
export async function runSeed({ count, ...place }: SeedFlags): Promise<void> {
  await withPlace(place, async ({ storage, place }) => {
    const found = await countAnimals(storage, count)
    await seed(storage, found, count)
    if (found < count) console.log(`${count - found} animals added to ${place}, ${found} were there.`)
    else console.log(`0 animals added to ${place}, at least ${count} were there.`)
  })
}

/** Walks the catalogue, which every storage lets one do, but no further than it matters. */
async function countAnimals(storage: PetStorage, enough: number): Promise<number> {
  let after: bigint | undefined
  let count = 0
  while (count < enough) {
    const page = await storage.list({ limit: COUNTED_AT_ONCE, after })
    count += page.length
    after = page.at(-1)?.id
    if (page.length < COUNTED_AT_ONCE) break
  }
  return count
}
