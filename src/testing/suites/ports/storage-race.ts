import type { Pet, PetMembers, PetStatus } from '../../../model.ts'
import { fingerprintOf } from '../../../pets/idempotency.ts'
import type { PetQuery } from '../../../ports.ts'
import { sleep, systemClock } from '../../../support/time.ts'
import { broken, show } from './report.ts'
import { add, byId, checkAdded, idsOf, pageOf, type Storage, samePets } from './storage-calls.ts'
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
      checkOrder(query, pets)
      if (pets.length > 0) pages.push({ query, pets })
      isRead = isLast && pets.length === 0
    }
    checkPages(pages, pageOf(added.sort(byId), { ...filter, limit: added.length }))
  }
  const writing = Promise.all(writers.map(write)).finally(() => {
    isDone = true
  })
  const reading = [read({ limit: 2 }), read({ limit: 1_000 }), read({ limit: 1, status: 'sold' })]
  await settled(writing, ...reading)
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

/**
 * Changes some animals and removes others, while readers follow the cursor. Each reader must see
 * the animals that stay as they are, each of them once.
 */
export async function raceWithChanges(store: Storage): Promise<void> {
  const pets = await add(store, ...Array(40).fill(REX))
  const kept = pets.filter((_, i) => i % 3 === 0)
  const last = pets.at(-1)?.id as bigint
  let isDone = false
  const write = async () => {
    for (const [i, { id }] of pets.entries()) {
      if (i % 3 === 1) await store.call('update', id, { status: 'sold' })
      if (i % 3 === 2) await store.call('remove', id)
      await sleep(0)
    }
  }
  const writing = write().finally(() => {
    isDone = true
  })
  const walk = async (filter: { readonly limit: number; readonly status?: PetStatus }) => {
    const seen: Pet[] = []
    for (let after = 0n; after < last; after = seen.at(-1)?.id ?? last) {
      const query = { ...filter, after }
      const page = await store.call('list', query)
      checkOrder(query, page)
      // The last animal stays, so a page that ends before it must be full.
      if (page.length < filter.limit && page.at(-1)?.id !== last)
        broken(`list(${show(query)}) must return a full page`, `${filter.limit} animals or animal ${last}`, idsOf(page))
      seen.push(...page)
      await sleep(0)
    }
    const keptIds = new Set(kept.map(({ id }) => id))
    const seenKept = seen.filter(({ id }) => keptIds.has(id))
    samePets('the animals on all pages of list that were not changed', seenKept, kept)
  }
  const read = async (filter: Parameters<typeof walk>[0]) => {
    do await walk(filter)
    while (!isDone)
  }
  await settled(writing, read({ limit: 1 }), read({ limit: 3 }), read({ limit: 2, status: 'available' }))
}

/** Waits for all promises, also after one of them has rejected: otherwise, calls would follow the end of the test. */
async function settled(...promises: readonly Promise<unknown>[]): Promise<void> {
  await Promise.allSettled(promises)
  await Promise.all(promises)
}

/** A reader would never come to the end of a list whose ids do not ascend. */
function checkOrder(query: PetQuery & { readonly after: bigint }, page: readonly Pet[]): void {
  if (page.some(({ id }, i) => id <= (page[i - 1]?.id ?? query.after)))
    broken(`list(${show(query)}) must return ascending ids`, `ascending ids above ${query.after}`, idsOf(page))
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
