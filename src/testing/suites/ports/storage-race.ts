import type { Pet, PetMembers, PetStatus } from '../../../model.ts'
import { fingerprintOf } from '../../../pets/idempotency.ts'
import type { PetQuery } from '../../../ports.ts'
import { sleep, systemClock } from '../../../support/time.ts'
import { broken, show } from './report.ts'
import { byId, checkAdded, idsOf, pageOf, type Storage, samePets } from './storage-calls.ts'
import { REX, SOLD } from './values.ts'

/**
 * Each writer adds its animals one after another, every third with an idempotency key. Meanwhile,
 * readers follow the cursor, and must see all of the animals.
 * @param start - the greatest id before the race
 * @returns the greatest id after it
 */
export async function race(store: Storage, writers: readonly (readonly PetMembers[])[], start = 0n): Promise<bigint> {
  const added: Pet[] = []
  let calls = 0
  let isDone = false
  const write = async (pets: readonly PetMembers[]) => {
    for (const pet of pets) {
      const idempotency = { scope: 'key:7', key: `${start} ${calls++}`, fingerprint: fingerprintOf(pet) }
      const created = checkAdded(pet, await store.call('create', pet, calls % 3 === 0 ? { idempotency } : {}), start)
      added.push(created)
      await store.returns('get', [created.id], created)
      const next = await store.call('list', { limit: 1, after: created.id - 1n })
      samePets(`list({ limit: 1, after: ${created.id - 1n}n }) after create`, next, [created])
    }
  }
  const read = async (filter: { readonly limit: number; readonly status?: PetStatus }) => {
    const pages: Page[] = []
    for (let isRead = false; !isRead; await sleep(0)) {
      const isLast = isDone
      const query = { ...filter, after: pages.at(-1)?.pets.at(-1)?.id ?? start }
      const pets = await store.call('list', query)
      // A reader would never come to the end of such a list.
      if (pets.some(({ id }, i) => id <= (pets[i - 1]?.id ?? query.after)))
        broken(`list(${show(query)}) must return ascending ids`, `ascending ids above ${query.after}`, idsOf(pets))
      if (pets.length > 0) pages.push({ query, pets })
      isRead = isLast && pets.length === 0
    }
    checkPages(pages, pageOf(added.sort(byId), { ...filter, limit: added.length }))
  }
  const writing = Promise.all(writers.map(write)).finally(() => {
    isDone = true
  })
  const reading = [read({ limit: 2 }), read({ limit: 1_000 }), read({ limit: 1, status: 'sold' })]
  await Promise.allSettled([writing, ...reading])
  await Promise.all([writing, ...reading])
  return added.sort(byId).at(-1)?.id ?? start
}

interface Page {
  readonly query: PetQuery
  readonly pets: readonly Pet[]
}

/** Checks that the pages of one reader have all animals. If one is missing, tells how it was missed. */
function checkPages(pages: readonly Page[], all: readonly Pet[]): void {
  const seen = pages.flatMap(({ pets }) => pets)
  const missing = all.find(({ id }) => seen.every((pet) => pet.id !== id))
  const early = missing && pages.find(({ pets }) => pets.some(({ id }) => id > missing.id))
  const other = early?.pets.find(({ id }) => id > (missing?.id ?? 0n))?.id
  if (missing && early)
    broken(
      `list showed animal ${other} before animal ${missing.id}: ids must become visible in ascending order, or readers skip some`,
      idsOf(all),
      idsOf(seen),
      [
        'create(...) and create(...) at once',
        `list(${show(early.query)}) -> ${idsOf(early.pets)}`,
        `create(...) -> animal ${missing.id}`,
        `later pages begin after animal ${other}, so animal ${missing.id} is never listed`,
      ],
    )
  if (missing)
    broken(`the pages of list left out animal ${missing.id}, which create had returned`, idsOf(all), idsOf(seen))
  samePets('the animals on all pages of list', seen, all)
}

/** How long bursts are repeated, in milliseconds. A commit that overtakes another one is rare on a fast disk. */
const BURST_TIME = 2_000
const LEAST_BURSTS = 3
const MOST_BURSTS = 200
const WRITERS = 8

/**
 * Repeats bursts of creates. With `AUTO_INCREMENT` or a `bigserial`, ids are given before the
 * commit. Long names, which an engine cannot compress, make some commits overtake others.
 */
export async function raceInBursts(store: Storage): Promise<void> {
  const startedAt = systemClock.monotonic()
  const isOver = (burst: number) => burst >= LEAST_BURSTS && systemClock.monotonic() - startedAt > BURST_TIME
  const long = { ...SOLD, name: INCOMPRESSIBLE }
  const writers = Array.from({ length: WRITERS }, (_, i) => (i % 2 ? [REX, REX] : [long]))
  let last = 0n
  for (let burst = 0; burst < MOST_BURSTS && !isOver(burst); burst++) last = await race(store, writers, last)
}

/** 16,000 characters in an order that no engine can compress. */
const INCOMPRESSIBLE = Array.from({ length: 16_000 }, (_, i) =>
  String.fromCodePoint(0x4e00 + ((i * i * 7_919) % 20_011)),
).join('')
