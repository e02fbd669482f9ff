import { type NewPet, type Pet, type PetStatus, petStatuses } from '../../model.ts'
import type { PetStorage } from '../../ports.ts'
import { newPets } from './arbitraries.ts'
import { check, checkEqual } from './assert.ts'
import { type FastCheck, fastCheckOf } from './fast-check.ts'
import { type Opened, type TestRunner, withPort, yieldToOthers } from './runner.ts'
import {
  checkCreated,
  create,
  expectedPage,
  list,
  matches,
  type StorageModel,
  storageCommands,
} from './storage-commands.ts'

/** The options of {@link storageContract}. */
export interface StorageContractOptions {
  /** The name of the storage in test titles. */
  readonly name: string
  /** Opens an empty storage. */
  open(): Promise<Opened<PetStorage>>
  /** The number of random sequences of calls. @default 30 */
  readonly runs?: number | undefined
  /** The largest number of calls in one sequence. @default 60 */
  readonly commands?: number | undefined
}

/**
 * Adds the tests that every {@link PetStorage} must pass. They need `fast-check`.
 *
 * The results of random sequences of calls must be those of a plain list. Other tests read page by page while animals are added.
 *
 * @example
 * ```ts
 * import { describe, test } from 'node:test'
 * import { memory } from 'petstore-kit'
 * import { storageContract } from 'petstore-kit/testing'
 *
 * storageContract({ describe, test }, {
 *   name: 'our storage',
 *   open: async () => ({ port: memory().storage, close: async () => {} }),
 * })
 * ```
 */
export function storageContract(runner: TestRunner, options: StorageContractOptions): void {
  const { name, open, runs = 30, commands = 60 } = options
  runner.describe(`storage: ${name}`, () => {
    runner.test('gives the same results as a plain list', async () => {
      const fc = await fastCheckOf(runner)
      const sequences = fc.commands(storageCommands(fc), { maxCommands: commands, size: 'max' })
      const property = fc.asyncProperty(sequences, (sequence) =>
        withPort(open, (real) => fc.asyncModelRun(() => ({ model: [] as StorageModel, real }), sequence)),
      )
      await fc.assert(property, { numRuns: runs })
    })
    runner.test('a reader skips no animal while others are added', async () => {
      const fc = await fastCheckOf(runner)
      const property = fc.asyncProperty(races(fc), (race) => withPort(open, (storage) => runRace(storage, race)))
      // Failures are not shrunk, because a repeated race may end differently.
      await fc.assert(property, { numRuns: Math.ceil(runs / 3), endOnFailure: true })
    })
    runner.test('lists full pages of any size', () => withPort(open, fillPages))
    runner.test('a change to a returned array does not change the storage', () => withPort(open, changeWhatWasGiven))
    runner.test('keeps working after a client has disconnected', () => withPort(open, leaveEarly))
  })
}

interface Race {
  /** A list of animals for each writer, which adds them one after another. */
  readonly writers: readonly (readonly NewPet[])[]
  readonly limit: number
  readonly status: PetStatus
}

function races(fc: FastCheck) {
  return fc.record({
    writers: fc.array(fc.array(newPets(fc), { minLength: 1, maxLength: 8 }), { minLength: 2, maxLength: 8 }),
    limit: fc.integer({ min: 1, max: 4 }),
    status: fc.constantFrom(...petStatuses),
  })
}

async function runRace(storage: PetStorage, { writers, limit, status }: Race): Promise<void> {
  const end = new AbortController()
  const writing = Promise.all(writers.map((pets) => addInTurn(storage, pets))).finally(() => end.abort())
  const reading = Promise.all([undefined, status].map((filter) => follow(storage, limit, filter, end.signal)))
  await Promise.allSettled([writing, reading])
  const added = (await writing).flat().sort((a, b) => (a.id < b.id ? -1 : 1))
  const [all, filtered] = await reading
  const matching = added.filter((pet) => matches(pet, status))
  checkEqual(all, added, 'what a reader has seen that followed the ids')
  checkEqual(filtered, matching, `what a reader of ${status} has seen that followed the ids`)
}

/** Adds animals one after another. Checks that each of them can be read as soon as its `create` has returned. */
async function addInTurn(storage: PetStorage, pets: readonly NewPet[]): Promise<Pet[]> {
  const added: Pet[] = []
  for (const pet of pets) {
    const created = await create(storage, pet)
    checkCreated(created, pet, added.at(-1)?.id)
    added.push(created)
    checkEqual(await storage.get(created.id), created, 'get, right after create')
    const [listed] = await list(storage, { limit: 1, after: created.id - 1n })
    checkEqual(listed, created, 'list, right after create')
    await yieldToOthers()
  }
  return added
}

/** Reads page by page until `end` aborts and no more animals come. */
async function follow(
  storage: PetStorage,
  limit: number,
  status: PetStatus | undefined,
  end: AbortSignal,
): Promise<Pet[]> {
  const seen: Pet[] = []
  for (;;) {
    const isLastRound = end.aborted
    const after = seen.at(-1)?.id
    const page = await list(storage, { limit, status, after })
    for (const { id } of page) check(after === undefined || id > after, `list after ${after}: it holds ${id}`)
    seen.push(...page)
    if (isLastRound && page.length === 0) return seen
    await yieldToOthers()
  }
}

/** Checks pages with limits up to 131. The core requests up to 101 animals: one more than the largest page of the interface. */
async function fillPages(storage: PetStorage): Promise<void> {
  const pets: Pet[] = []
  for (let i = 0; i < 130; i++)
    pets.push(await create(storage, { name: `${i}`, categoryId: 1n, status: petStatuses[i % 2] }))
  for (const status of [undefined, ...petStatuses]) {
    for (const limit of [1, 64, 65, 66, 100, 101, 129, 130, 131]) {
      const page = await list(storage, { limit, status })
      checkEqual(page, expectedPage(pets, { limit, status }), `list ${limit} of ${status ?? 'any status'}`)
    }
  }
}

async function changeWhatWasGiven(storage: PetStorage): Promise<void> {
  for (const name of ['a', 'b', 'c']) await create(storage, { name, categoryId: 1n, status: 'sold' })
  const names = async () => (await list(storage, { limit: 9, status: 'sold' })).map(({ name }) => name)
  const given = (await list(storage, { limit: 9, status: 'sold' })) as Pet[]
  given.reverse()
  given.pop()
  checkEqual(await names(), ['a', 'b', 'c'], 'list, after a page was changed')
}

/** Makes calls whose signal has aborted before. These calls may fail, but later calls must work. */
async function leaveEarly(storage: PetStorage): Promise<void> {
  const kept = await create(storage, { name: 'kept', categoryId: 1n })
  const left = { signal: AbortSignal.abort() }
  const attempt = async (call: () => unknown) => {
    await (async () => call())().catch(() => undefined)
  }
  await attempt(() => storage.list({ limit: 1 }, left))
  await attempt(() => storage.get(kept.id, left))
  await attempt(() => storage.create({ name: 'perhaps', categoryId: 2n }, left))
  const next = await create(storage, { name: 'next', categoryId: 3n })
  const found = await list(storage, { limit: 9 })
  checkEqual([found.at(0), found.at(-1)], [kept, next], 'list, after calls for a client that had left')
  check(found.length <= 3, `list: expected at most 3 animals, got ${found.length}`)
}
