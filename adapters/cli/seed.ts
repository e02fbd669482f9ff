import type { NewPet, PetStorage } from '../../src/index.ts'
import { type PlaceFlags, withPlace } from './back-end.ts'
import { demoPet } from './demo.ts'
import { progressBar } from './progress.ts'

/** The flags of `petstore seed`. */
export interface SeedFlags extends PlaceFlags {
  readonly count: number
}

/** A storage may have a faster way to add many. */
type Bulk = PetStorage & { createMany?(pets: readonly NewPet[]): Promise<unknown> }

const BATCH = 1_000
const COUNTED_AT_ONCE = 1_000

/** Fills a catalogue up to so many animals. One that was broken off is taken up where it stopped. */
export async function runSeed({ count, ...place }: SeedFlags): Promise<void> {
  await withPlace(place, async ({ storage, place }) => {
    const found = await countAnimals(storage, count)
    const progress = progressBar(count)
    try {
      for (let index = found; index < count; index += BATCH) {
        progress.show(index)
        await addAll(
          storage,
          Array.from({ length: Math.min(BATCH, count - index) }, (_, i) => demoPet(index + i)),
        )
      }
    } finally {
      progress.end()
    }
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

async function addAll(storage: Bulk, pets: readonly NewPet[]): Promise<void> {
  if (storage.createMany) await storage.createMany(pets)
  else await Promise.all(pets.map(async (pet) => storage.create(pet)))
}
