import type { Arbitrary } from 'fast-check'
import { INT64_MAX, INT64_MIN, isInt64, MAX_LIMIT, type NewPet, type Pet, petStatuses } from '../../../model.ts'
import type { PetQuery, PetStorage } from '../../../ports.ts'
import { int64s, newPets, REX, SOLD } from './arbitraries.ts'
import { type CheckedStorage, checkedStorage, showIds } from './checked-storage.ts'
import { callsWithKeys, idempotencyExamples, idempotencyExamplesWithoutClock } from './idempotency.ts'
import { show } from './report.ts'
import { type FastCheck, type SequenceOptions, suiteOf, type TestRunner, type Use, usesWith } from './runner.ts'
import { races, runBursts, runRace, smallRace } from './storage-race.ts'

/** The options of {@link storageContract}. */
export type StorageContractOptions = SequenceOptions<PetStorage>

/**
 * Adds the tests that every {@link PetStorage} must pass. They need `fast-check`. The first tests
 * have one example for each rule. Then random sequences of calls must have the same results as a
 * plain list, and readers must skip no animal while others are added. Each idempotency key must add
 * one animal in 48 hours, by the clock that `open` gets. If `open` returns `reopen`, the storage
 * must keep its animals and keys.
 * @example
 * ```ts
 * import { describe, test } from 'node:test'
 * import { memory } from 'petstore-kit'
 * import { storageContract } from 'petstore-kit/testing'
 *
 * storageContract({ describe, test }, {
 *   name: 'our storage',
 *   open: async (clock) => ({ port: memory({ clock }).storage, close: async () => {} }),
 * })
 * ```
 */
export function storageContract(runner: TestRunner, options: StorageContractOptions): void {
  const { name, runs = 30, commands } = options
  runner.describe(`storage: ${name}`, () => {
    const { examples, examplesWithoutClock, property, sequences } = suiteOf(
      runner,
      'storageContract',
      options,
      checkedStorage,
    )
    examples(EXAMPLES)
    examplesWithoutClock(idempotencyExamplesWithoutClock)
    sequences('gives the same results as a plain list', calls, commands)
    property('create with idempotency keys gives the same results as a plain map', callsWithKeys, (checked, use) =>
      use(checked),
    )
    // With `endOnFailure`, fast-check does not repeat a failed race to find a simpler one: the same
    // race may pass the next time.
    property('a reader skips no animal while others are added', races, runRace, {
      numRuns: Math.ceil(runs / 3),
      endOnFailure: true,
    })
  })
}

/** Returns a test that adds animals one after another, and gets each. */
function keeps(pets: readonly NewPet[]): Use<CheckedStorage> {
  return async ({ create, get }) => {
    for (const pet of pets) await get((await create(pet)).id)
  }
}

/** Returns a test that adds animals, and then lists them by each query. */
function lists(newcomers: readonly NewPet[], queriesOf: (first: bigint) => readonly PetQuery[]): Use<CheckedStorage> {
  return async ({ pets, create, list }) => {
    for (const pet of newcomers) await create(pet)
    for (const query of queriesOf(pets[0]?.id ?? 0n)) await list(query)
  }
}

const INT64S = [0n, -1n, 2n ** 31n, 2n ** 53n + 1n, INT64_MAX, INT64_MIN]
const NAMES = ['Zoë', 'Zoe\u0308', '🐕', "O'Hara", ' Rex ', 'x'.repeat(1_000)]
const AVAILABLE = { ...REX, status: 'available' } as const

/**
 * One example for each rule. They run before the random tests, so that a short test reports a
 * common mistake.
 */
const EXAMPLES: Record<string, Use<CheckedStorage>> = {
  'create has stored the animal when it returns': async ({ create, get, list }) => {
    const { id } = await create(REX)
    await get(id)
    await list({ limit: 10 })
  },
  'create gives each animal a greater id': lists([REX, REX, REX], () => []),
  'get returns undefined or null if there is no animal': async ({ create, get }) => {
    const { id } = await create(REX)
    for (const other of [id + 1n, -id, id + 2n ** 32n]) await get(other)
  },
  'list returns animals by ascending id': lists(
    ['Rex', 'Bella', 'Ada'].map((name) => ({ ...REX, name })),
    () => [{ limit: 10 }],
  ),
  'list returns at most `limit` animals': lists([REX, REX, REX], () => [{ limit: 2 }]),
  'list returns only ids above `after`': lists([REX, REX], (first) => [
    { limit: 10, after: first },
    { limit: 10, after: -1n },
  ]),
  'list returns only animals with the `status` of the query': lists([REX, AVAILABLE, SOLD], () => [
    { limit: 10, status: 'sold' },
  ]),
  'list selects by `status` and `after` before it applies `limit`': lists([SOLD, AVAILABLE, SOLD, SOLD], (after) => [
    { limit: 2, status: 'sold', after },
  ]),
  'keeps each int64 value of `categoryId`': keeps(INT64S.map((categoryId) => ({ ...REX, categoryId }))),
  'keeps each character of `name`': keeps(NAMES.map((name) => ({ ...REX, name }))),
  'keeps all animals when the storage is opened again': async ({ create, reopen }) => {
    for (const pet of [REX, SOLD, { name: 'Zoë', categoryId: INT64_MAX }]) {
      await create(pet)
      await reopen()
    }
    // A faulty storage may keep a few animals, but lose some of many.
    for (let i = 0; i < 30; i++) await create(REX)
    await Promise.all(Array.from({ length: 30 }, () => create(SOLD)))
    await reopen()
  },
  'a reader skips no animal while three are added': (checked) => runRace(checked, smallRace),
  'lists full pages of any size': async ({ create, list }) => {
    // The core requests at most `MAX_LIMIT + 1` animals, but a storage must also return larger
    // pages.
    for (let i = 0; i < MAX_LIMIT + 30; i++) await create({ ...REX, name: `${i}`, status: petStatuses[i % 2] })
    for (const status of [undefined, ...petStatuses])
      for (const limit of [1, 64, 65, 66, MAX_LIMIT, MAX_LIMIT + 1, MAX_LIMIT + 29, MAX_LIMIT + 30, MAX_LIMIT + 31])
        await list({ limit, status })
  },
  'a change to a returned array does not change the storage': async ({ create, list }) => {
    for (let i = 0; i < 3; i++) await create(SOLD)
    const given = (await list({ limit: 9, status: 'sold' })) as Pet[]
    given.reverse()
    given.pop()
    await list({ limit: 9, status: 'sold' })
  },
  'keeps working after a client has disconnected': leaveEarly,
  'a reader skips no animal while many are added at once': runBursts,
  ...idempotencyExamples,
}

/**
 * Generates functions that choose an id during the test, because only then the ids in the storage
 * are known.
 */
function idChoices(fc: FastCheck): Arbitrary<(pets: readonly Pet[]) => bigint> {
  const among = fc.tuple(fc.nat(), fc.nat({ max: 5 })).map(([index, choice]) => (pets: readonly Pet[]) => {
    const id = pets[index % Math.max(1, pets.length)]?.id ?? 0n
    // A storage might confuse these ids.
    const near = [id, id, id - 1n, id + 1n, -id, id + 2n ** 32n].filter(isInt64)
    return near[choice % near.length] as bigint
  })
  const fixed = int64s(fc).map((id) => () => id)
  return fc.oneof({ arbitrary: among, weight: 3 }, fixed)
}

function calls(fc: FastCheck): Arbitrary<Use<CheckedStorage>>[] {
  const pets = newPets(fc)
  const status = fc.option(fc.constantFrom(...petStatuses), { nil: undefined })
  const limit = fc.oneof(
    fc.integer({ min: 1, max: MAX_LIMIT + 1 }),
    fc.integer({ min: 1, max: 4 }),
    fc.constantFrom(MAX_LIMIT, MAX_LIMIT + 1),
  )
  const idChoice = idChoices(fc)
  const query = fc.record({ limit, status, after: fc.option(idChoice, { nil: undefined }) })
  const walk = fc.record({ limit: fc.integer({ min: 1, max: 5 }), status })
  const several = fc.array(pets, { minLength: 2, maxLength: 12 })
  return [
    usesWith(pets, ({ create }, pet) => create(pet)),
    usesWith(several, ({ create }, pets) => Promise.all(pets.map(create))),
    usesWith(query, ({ list, pets }, { after, ...query }) => list({ ...query, after: after?.(pets) })),
    usesWith(walk, async ({ list, pets }, query) => {
      for (let i = 0; i <= pets.length; i += query.limit) await list({ ...query, after: pets[i - 1]?.id })
    }),
    usesWith(idChoice, ({ get, pets }, choose) => get(choose(pets))),
  ]
}

/** Makes calls with an aborted signal. These calls may fail, but later calls must work. */
async function leaveEarly({ port, steps, pets, create, read, checkFound }: CheckedStorage): Promise<void> {
  const { id } = await create({ name: 'kept', categoryId: 1n })
  const aborted = { signal: AbortSignal.abort() }
  const attempt = (text: string, call: () => unknown) =>
    steps.call(`${text} with an aborted signal`, async () => call(), '', show).catch(() => undefined)
  await attempt('list', () => port().list({ limit: 1 }, aborted))
  await attempt('get', () => port().get(id, aborted))
  await attempt('create', () => port().create({ name: 'perhaps', categoryId: 2n }, {}, aborted))
  await create({ name: 'next', categoryId: 3n })
  const found = await read({ limit: 9 })
  checkFound('list({ limit: 9 })[0]', found[0], pets[0])
  checkFound('list({ limit: 9 }).at(-1)', found.at(-1), pets[1])
  const sentence = `list returned ${found.length} animals, but create was called only 3 times`
  steps.check(found.length <= 3, sentence, 'at most 3 animals', showIds(found))
}
