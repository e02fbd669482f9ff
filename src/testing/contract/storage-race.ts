import type { Arbitrary } from 'fast-check'
import { type NewPet, type Pet, type PetStatus, petStatuses } from '../../model.ts'
import { sleep } from '../../support/time.ts'
import { newPets, REX, SOLD } from './arbitraries.ts'
import {
  added,
  type CheckedStorage,
  checkFound,
  checkGet,
  checkNewId,
  listed,
  matches,
  showIds,
} from './checked-storage.ts'
import { show } from './report.ts'
import type { FastCheck } from './runner.ts'

/** Animals to add while readers read page by page. */
export interface Race {
  /** The animals of each writer, which adds them one after another. */
  readonly writers: readonly (readonly NewPet[])[]
  readonly limit: number
  readonly status: PetStatus
}

export const smallRace: Race = { writers: [[REX, SOLD], [REX], [SOLD, REX]], limit: 1, status: 'sold' }

export function races(fc: FastCheck): Arbitrary<Race> {
  return fc.record({
    writers: fc.array(fc.array(newPets(fc), { minLength: 1, maxLength: 8 }), { minLength: 2, maxLength: 8 }),
    limit: fc.integer({ min: 1, max: 4 }),
    status: fc.constantFrom(...petStatuses),
  })
}

export async function runRace(checked: CheckedStorage, { writers, limit, status }: Race): Promise<void> {
  const end = new AbortController()
  const all: Pet[] = []
  const writing = Promise.all(writers.map((pets) => addInTurn(checked, pets, all))).finally(() => end.abort())
  const reading = Promise.all([undefined, status].map((filter) => follow(checked, limit, filter, end.signal)))
  await Promise.allSettled([writing, reading])
  await writing
  all.sort((a, b) => (a.id < b.id ? -1 : 1))
  const [pages = [], filtered = []] = await reading
  await checkReader(checked, all, pages)
  await checkReader(
    checked,
    all.filter((pet) => matches(pet, status)),
    filtered,
  )
}

/** Adds animals to the storage and to `all`. Checks that each can be read as soon as `create` has returned. */
async function addInTurn({ storage, steps }: CheckedStorage, pets: readonly NewPet[], all: Pet[]): Promise<void> {
  let before: bigint | undefined
  for (const pet of pets) {
    const created = await added(storage, steps, pet, before)
    before = created.id
    checkNewId(steps, created.id, all)
    all.push(created)
    await checkGet(storage, steps, created.id, created)
    const query = { limit: 1, after: created.id - 1n }
    checkFound(steps, `list(${show(query)})[0]`, (await listed(storage, steps, query))[0], created)
    await sleep(0)
  }
}

interface Page {
  readonly text: string
  readonly pets: readonly Pet[]
}

/** Reads page by page until `end` aborts and a page is empty. Returns the pages with animals. */
async function follow(
  { storage, steps }: CheckedStorage,
  limit: number,
  status: PetStatus | undefined,
  end: AbortSignal,
): Promise<Page[]> {
  const pages: Page[] = []
  for (;;) {
    const isLastRound = end.aborted
    const query = { limit, status, after: pages.at(-1)?.pets.at(-1)?.id }
    const pets = await listed(storage, steps, query)
    if (pets.length > 0) pages.push({ text: `list(${show(query)}) → ${showIds(pets)}`, pets })
    else if (isLastRound) return pages
    await sleep(0)
  }
}

async function checkReader({ storage, steps }: CheckedStorage, all: readonly Pet[], pages: readonly Page[]) {
  const seen = pages.flatMap(({ pets }) => pets)
  const left = all.find(({ id }) => seen.every((pet) => pet.id !== id))
  if (left) {
    await checkGet(storage, steps, left.id, left)
    const early = pages.find(({ pets }) => pets.some(({ id }) => id > left.id))
    const other = early?.pets.find(({ id }) => id > left.id)
    const end = `the pages of list left out animal ${left.id}: create has returned it`
    steps.check(early !== undefined, end, showIds(all), showIds(seen))
    steps.check(
      false,
      `list showed animal ${other?.id} before animal ${left.id}: ids become visible in ascending order, or a reader skips some`,
      showIds(all),
      showIds(seen),
      [
        `create(…) and create(…) at once`,
        early?.text ?? 'list',
        `create(…) → animal ${left.id}`,
        `later pages begin after ${other?.id}`,
      ],
    )
  }
  seen.forEach((pet, i) => void checkFound(steps, 'list', pet, all[i]))
}
