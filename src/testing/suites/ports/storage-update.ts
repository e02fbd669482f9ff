import { type Pet, petStatuses } from '../../../model.ts'
import { equal } from './report.ts'
import { add, change, createWithKey, listReturns, pageOf, type Storage } from './storage-calls.ts'
import { HARD_TEXTS, INT64S, REX, SOLD } from './values.ts'

/** Adds a test whose title is the rule. */
export type AddRule = (title: string, use: (store: Storage) => unknown) => void

/** How many calls compete in one test. */
export const RIVALS = 20
export const AVAILABLE = { if: { status: 'available' } } as const

/** Conditions that {@link REX} does not meet, because one of its values differs. */
export const UNMET = [{ name: 'rex' }, { categoryId: 2n }, { status: 'sold' } as const].map((other) => ({
  if: { ...REX, ...other },
}))

/** Returns ids that no animal has if only one animal has been added, with this id. */
export function otherIds(id: bigint): bigint[] {
  return [id + 1n, 0n, -id, id + 2n ** 32n, ...INT64S.slice(0, 2)]
}

/** Adds the rules of `update`. */
export function updateRules(rule: AddRule): void {
  rule('update changes only the members that it gets', async (store) => {
    const [pet, other] = (await add(store, REX, REX)) as [Pet, Pet]
    const sold = await change(store, pet, { status: 'sold' })
    const named = await change(store, sold, { name: 'Ada', categoryId: undefined })
    const last = await change(store, named, { name: undefined, categoryId: -7n, status: undefined })
    await store.returns('get', [pet.id], last)
    await listReturns(store, { limit: 9 }, [last, other])
  })
  rule('update keeps each value of `name` and `categoryId`', async (store) => {
    let [pet] = (await add(store, REX)) as [Pet]
    for (const changes of [...INT64S.map((categoryId) => ({ categoryId })), ...HARD_TEXTS.map((name) => ({ name }))]) {
      pet = await change(store, pet, changes)
      await store.returns('get', [pet.id], pet)
    }
  })
  rule('list finds a changed animal under its new status, and not under the old one', async (store) => {
    const pets = await add(store, REX, REX, REX, SOLD, REX)
    const steps = [
      { index: 1, status: 'sold' },
      { index: 3, status: 'pending' },
      { index: 0, status: 'sold' },
      { index: 1, status: 'available' },
    ] as const
    for (const { index, status } of steps) {
      pets[index] = await change(store, pets[index] as Pet, { status })
      for (const limit of [1, 9])
        for (const status of petStatuses) await listReturns(store, { limit, status }, pageOf(pets, { limit, status }))
    }
  })
  rule('update changes nothing if the animal does not have all values of `if`', async (store) => {
    const [pet] = (await add(store, REX)) as [Pet]
    for (const options of UNMET) {
      await store.returns('update', [pet.id, { name: 'Ada', status: 'sold' }, options], { applied: false, pet })
      await store.returns('get', [pet.id], pet)
    }
    const sold = await change(store, pet, { status: 'sold' }, { if: REX })
    await store.returns('update', [pet.id, { status: 'sold' }, AVAILABLE], { applied: false, pet: sold })
    await change(store, sold, { name: 'Ada' }, { if: { name: undefined } })
  })
  rule('update returns undefined or null if there is no animal', async (store) => {
    const [pet] = (await add(store, REX)) as [Pet]
    for (const id of otherIds(pet.id))
      for (const options of [undefined, AVAILABLE])
        await store.returns('update', [id, { status: 'sold' }, options], undefined)
    await listReturns(store, { limit: 9 }, [pet])
  })
  rule('only one of many updates at once with the same condition is applied', async (store) => {
    const [pet] = (await add(store, REX)) as [Pet]
    const sell = async (_: unknown, till: number) => {
      const changes = { status: 'sold', categoryId: BigInt(till) } as const
      return { changes, result: await store.call('update', pet.id, changes, AVAILABLE) }
    }
    const calls = await Promise.all(Array.from({ length: RIVALS }, sell))
    const applied = calls.filter(({ result }) => result?.applied)
    equal(`${RIVALS} calls of update at once: how many were applied`, applied.length, 1)
    const sold = { ...pet, ...applied[0]?.changes }
    for (const { result } of calls) equal('update, after another call has sold the animal: pet', result?.pet, sold)
    await listReturns(store, { limit: 9, status: 'sold' }, [sold])
    await listReturns(store, { limit: 9, status: 'available' }, [])
  })
  rule('updates of different members at once change all of them', async (store) => {
    const [pet] = (await add(store, REX)) as [Pet]
    const changes = [{ name: 'Ada' }, { categoryId: 7n }, { status: 'sold' }] as const
    await Promise.all(changes.map((each) => store.call('update', pet.id, each)))
    await store.returns('get', [pet.id], { id: pet.id, name: 'Ada', categoryId: 7n, status: 'sold' })
  })
  rule('a repeat of an idempotency key gets the animal as it was added, after a change', async (store) => {
    const first = await createWithKey(store)
    const changed = await change(store, first, { name: 'Ada', categoryId: 7n, status: 'sold' })
    await createWithKey(store, { times: 3 }, first)
    const { id: _, ...asChanged } = changed
    await createWithKey(store, { pet: asChanged }, first)
    await listReturns(store, { limit: 9 }, [changed])
  })
}
