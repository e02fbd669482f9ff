import { INT64_MAX, type Pet, type PetMembers, petStatuses } from '../../../model.ts'
import { KEY_PERIOD } from '../../../pets/idempotency.ts'
import type { PetStorage } from '../../../ports.ts'
import { equal } from './report.ts'
import { add, addAtOnce, checkAdded, createWithKey, idsOf, listReturns, pageOf, type Storage } from './storage-calls.ts'
import { changeRules } from './storage-changes.ts'
import { commandsOf, newModel } from './storage-model.ts'
import { race, raceInBursts } from './storage-race.ts'
import { type SuiteOptions, suiteOf, type TestRunner } from './suite.ts'
import { HARD_TEXTS, INT64S, REX, SOLD } from './values.ts'

/** The options of {@link storageContract}. */
export type StorageContractOptions = SuiteOptions<PetStorage>

const PENDING = { ...REX, status: 'pending' } as const

/**
 * Adds the tests that every {@link PetStorage} must pass. They need `fast-check`. Each test has one
 * rule, which is its title. Then random calls must have the same results as a plain list of
 * animals. The tests of an optional method that the storage does not have are skipped.
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
  runner.describe(`storage: ${options.name}`, () => {
    const { rule, modelTest } = suiteOf(runner, options, isEmpty)

    rule('create has stored the animal when it returns', async (store) => {
      const [pet] = (await add(store, REX)) as [Pet]
      await store.returns('get', [pet.id], pet)
      await listReturns(store, { limit: 10 }, [pet])
    })
    rule('create gives each animal a greater id', (store) => add(store, REX, REX, REX))
    rule('get returns undefined or null if there is no animal', async (store) => {
      const [{ id }] = (await add(store, REX)) as [Pet]
      for (const other of [id + 1n, -id, id + 2n ** 32n]) await store.returns('get', [other], undefined)
    })
    rule('list returns animals by ascending id', async (store) => {
      const pets = await add(store, ...['Rex', 'Bella', 'Ada'].map((name) => ({ ...REX, name })))
      await listReturns(store, { limit: 10 }, pets)
    })
    rule('list returns at most `limit` animals', async (store) => {
      const pets = await add(store, REX, REX, REX)
      await listReturns(store, { limit: 2 }, pets.slice(0, 2))
    })
    rule('list returns only ids above `after`', async (store) => {
      const pets = await add(store, REX, REX)
      await listReturns(store, { limit: 10, after: -1n }, pets)
      await listReturns(store, { limit: 10, after: pets[0]?.id }, pets.slice(1))
      await listReturns(store, { limit: 10, after: pets[1]?.id }, [])
    })
    rule('list returns only animals with the `status` of the query', async (store) => {
      const pets = await add(store, REX, PENDING, SOLD)
      await listReturns(store, { limit: 10, status: 'sold' }, pets.slice(2))
    })
    rule('list selects by `status` and `after` before it applies `limit`', async (store) => {
      const pets = await add(store, SOLD, REX, SOLD, SOLD)
      await listReturns(store, { limit: 2, status: 'sold', after: pets[0]?.id }, pets.slice(2))
    })
    rule('list returns full pages of any size', async (store) => {
      const newPets = Array.from({ length: 131 }, (_, i) => ({ ...(i % 2 ? REX : SOLD), name: `${i}` }))
      const pets = await add(store, ...newPets)
      for (const limit of [1, 64, 65, 66, 100, 101, 130, 131, 132])
        for (const status of [undefined, ...petStatuses])
          await listReturns(store, { limit, status }, pageOf(pets, { limit, status }))
    })
    rule('keeps each int64 value of `categoryId`', (store) =>
      keeps(store, ...INT64S.map((categoryId) => ({ ...REX, categoryId }))),
    )
    rule('keeps each character of `name`', (store) => keeps(store, ...HARD_TEXTS.map((name) => ({ ...REX, name }))))
    rule('a change to a returned array does not change the storage', async (store) => {
      const pets = await add(store, SOLD, SOLD, SOLD)
      const given = (await store.call('list', { limit: 9, status: 'sold' })) as Pet[]
      if (!Object.isFrozen(given)) given.reverse().pop()
      await listReturns(store, { limit: 9, status: 'sold' }, pets)
    })
    rule('keeps working after a client has disconnected', async (store) => {
      const [kept] = (await add(store, REX)) as [Pet]
      const aborted = { signal: AbortSignal.abort() }
      await store.call('list', { limit: 1 }, aborted).catch(() => undefined)
      await store.call('get', kept.id, aborted).catch(() => undefined)
      await store.call('create', PENDING, {}, aborted).catch(() => undefined)
      const next = await add(store, SOLD)
      // The call of the client that has disconnected may have added its animal, but only once.
      const perhaps = (await store.call('list', { limit: 9, status: 'pending' })).slice(0, 1)
      await listReturns(store, { limit: 9 }, [kept, ...perhaps, ...next])
    })
    rule('animals that are added at once have different ids', (store) => addAtOnce(store, Array(20).fill(REX)))
    const reopened = async (store: Storage) => {
      const pets = await add(store, ...Array(30).fill(REX), { ...SOLD, categoryId: INT64_MAX })
      pets.push(...(await addAtOnce(store, Array(30).fill(SOLD), pets.at(-1)?.id)))
      await store.reopen()
      for (const pet of pets) await store.returns('get', [pet.id], pet)
      await listReturns(store, { limit: 99 }, pets)
      await addAtOnce(store, [REX], pets.at(-1)?.id)
    }
    rule('keeps all animals when the storage is opened again', reopened, ['reopen'])

    rule('create adds one animal for each idempotency key', async (store) => {
      const first = await createWithKey(store)
      await listReturns(store, { limit: 9 }, [first])
      await createWithKey(store, {}, first)
      const other = await createWithKey(store, { pet: SOLD, key: 'order-2' })
      await createWithKey(store, {}, first)
      await listReturns(store, { limit: 9 }, [first, other])
      await listReturns(store, { limit: 9, status: 'sold' }, [other])
    })
    rule('an animal with an idempotency key gets an id of its own', async (store) => {
      const [one] = (await add(store, REX)) as [Pet]
      const two = await createWithKey(store, {}, undefined, one.id)
      checkAdded(REX, await store.call('create', REX, {}), two.id)
    })
    rule('concurrent repeats of an idempotency key add one animal', async (store) => {
      const first = await createWithKey(store, { times: 10 })
      await createWithKey(store, {}, first)
      await listReturns(store, { limit: 9 }, [first])
    })
    rule('create reports an idempotency key that was used for another animal', async (store) => {
      const first = await createWithKey(store)
      for (const other of [{ name: 'Ada' }, { categoryId: 2n }, { status: 'sold' as const }])
        await createWithKey(store, { pet: { ...REX, ...other } }, first)
      await listReturns(store, { limit: 9 }, [first])
    })
    rule('keeps each value of an animal with an idempotency key', async (store) => {
      const pets = [
        ...INT64S.map((categoryId) => ({ ...REX, categoryId })),
        ...HARD_TEXTS.map((name) => ({ ...REX, name })),
      ]
      for (const [i, pet] of pets.entries()) await createWithKey(store, { pet, key: `order-${i}` })
    })
    rule('each scope has idempotency keys of its own', async (store) => {
      for (const scope of ['account:acme', 'account:ACME', 'account:acme ', 'key:acme'])
        await createWithKey(store, { scope })
      await createWithKey(store, { scope: 'account:acmeorder', key: '-1' })
    })
    rule('idempotency keys that differ in one character add separate animals', async (store) => {
      const long = 'k'.repeat(254)
      for (const key of ['a', 'A', '"', '\\', "'", '%', '_', `${long}1`, `${long}2`])
        await createWithKey(store, { key })
    })
    rule('an idempotency key expires after 48 hours', async (store) => {
      for (let i = 0; i < 2; i++) {
        const first = await createWithKey(store)
        store.clock.advance(KEY_PERIOD - 1)
        await createWithKey(store, {}, first)
        store.clock.advance(1)
      }
    })
    const keepsKeys = async (store: Storage, between?: () => Promise<void>) => {
      const keys = Array.from({ length: 30 }, (_, i) => `order-${i}`)
      const firsts: Pet[] = []
      for (const key of keys) firsts.push(await createWithKey(store, { key }))
      await between?.()
      for (const [i, key] of keys.entries()) await createWithKey(store, { key }, firsts[i])
    }
    const keepsKeysOver = (store: Storage) => keepsKeys(store, store.reopen)
    rule('keeps idempotency keys when the storage is opened again', keepsKeysOver, ['reopen'])
    // Without a clock, a storage takes the time of its engine, which may be in seconds.
    const openAsInProduction = () => options.open()
    rule('keeps idempotency keys by the time of the engine too', keepsKeys, [], openAsInProduction)

    changeRules(rule)

    rule('a reader skips no animal while three are added', (store) => race(store, [[REX, SOLD], [REX], [SOLD, REX]]))
    rule('a reader skips no animal while many are added at once', raceInBursts)

    modelTest('random calls give the same results as a plain list', newModel, commandsOf)
  })
}

const isEmpty = async (store: Storage) =>
  equal('a new storage must be empty: list({ limit: 1 })', idsOf(await store.call('list', { limit: 1 })), 'no animals')

async function keeps(store: Storage, ...pets: readonly PetMembers[]): Promise<void> {
  for (const pet of await add(store, ...pets)) await store.returns('get', [pet.id], pet)
}
