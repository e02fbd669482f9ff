import type { Arbitrary } from 'fast-check'
import { type NewPet, type Pet, type PetStatus, petStatuses } from '../../../model.ts'
import type { PetQuery } from '../../../ports.ts'
import { sleep } from '../../../support/time.ts'
import { newPets, REX, SOLD } from './arbitraries.ts'
import { type CheckedStorage, matches, showIds } from './checked-storage.ts'
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
  const writing = Promise.all(writers.map((pets) => addInTurn(checked, pets))).finally(() => end.abort())
  const reading = [undefined, status].map((filter) => readAll(checked, { limit, status: filter }, end.signal))
  await Promise.allSettled([writing, ...reading])
  await writing
  await Promise.all(reading)
}

const BURSTS = 8
const BURST_SIZE = 20

/**
 * Adds many animals at once, and reads meanwhile. With `AUTO_INCREMENT`, ids are given before the
 * commit. Some names are long, so that a greater id is sometimes committed first.
 */
export async function runBursts(checked: CheckedStorage): Promise<void> {
  const long = { ...SOLD, name: 'x'.repeat(16_000) }
  for (let burst = 0; burst < BURSTS; burst++) {
    const writers = Array.from({ length: BURST_SIZE }, (_, i) => [i % 2 === 0 ? long : REX])
    await runRace(checked, { writers, limit: 1_000, status: 'sold' })
  }
}

/** Adds animals. Checks that each can be read as soon as `create` has returned. */
async function addInTurn({ create, get, list }: CheckedStorage, pets: readonly NewPet[]): Promise<void> {
  for (const pet of pets) {
    const { id } = await create(pet)
    await get(id)
    await list({ limit: 1, after: id - 1n })
    await sleep(0)
  }
}

/**
 * Reads page by page until all animals were added and a page is empty. Then checks that the pages
 * have left out no animal.
 */
async function readAll(checked: CheckedStorage, query: PetQuery, end: AbortSignal): Promise<void> {
  const { steps, pets, get, read, checkFound } = checked
  const pages: { readonly text: string; readonly page: readonly Pet[] }[] = []
  for (let isRead = false; !isRead; ) {
    const isLastRound = end.aborted
    const next = { ...query, after: pages.at(-1)?.page.at(-1)?.id }
    const page = await read(next)
    if (page.length > 0) pages.push({ text: `list(${show(next)}) → ${showIds(page)}`, page })
    else isRead = isLastRound
    await sleep(0)
  }
  const all = pets.filter((pet) => matches(pet, query.status))
  const seen = pages.flatMap(({ page }) => page)
  const missing = all.find(({ id }) => seen.every((pet) => pet.id !== id))
  if (missing) {
    await get(missing.id)
    const early = pages.find(({ page }) => page.some(({ id }) => id > missing.id))
    const other = early?.page.find(({ id }) => id > missing.id)?.id
    const sentence = early
      ? `list showed animal ${other} before animal ${missing.id}: ids must become visible in ascending order, or readers skip some`
      : `the pages of list left out animal ${missing.id}, which create had returned`
    steps.check(
      false,
      sentence,
      showIds(all),
      showIds(seen),
      early && [
        'create(…) and create(…) at once',
        early.text,
        `create(…) → animal ${missing.id}`,
        `later pages begin after animal ${other}, so animal ${missing.id} is never listed`,
      ],
    )
  }
  for (const [i, pet] of seen.entries()) checkFound('list', pet, all[i])
}
