import type { Pet } from '../../../model.ts'
import { equal } from './report.ts'
import { add, createWithKey, listReturns, pageOf, remove, type Storage } from './storage-calls.ts'
import { type AddRule, AVAILABLE, otherIds, RIVALS, UNMET } from './storage-update.ts'
import { REX, SOLD } from './values.ts'

/** Adds the rules of `remove`. */
export function removeRules(rule: AddRule): void {
  rule('remove removes an animal from get and from each page', async (store) => {
    const [one, two, three] = (await add(store, REX, SOLD, SOLD)) as [Pet, Pet, Pet]
    await remove(store, two)
    await store.returns('get', [two.id], undefined)
    await listReturns(store, { limit: 9 }, [one, three])
    await listReturns(store, { limit: 9, status: 'sold' }, [three])
    await store.returns('remove', [two.id], undefined)
  })
  rule('remove removes nothing if the animal does not have all values of `if`', async (store) => {
    const [pet] = (await add(store, REX)) as [Pet]
    for (const options of UNMET) {
      await store.returns('remove', [pet.id, options], { applied: false, pet })
      await listReturns(store, { limit: 9 }, [pet])
    }
    await remove(store, pet, { if: REX })
    await listReturns(store, { limit: 9 }, [])
  })
  rule('remove returns undefined or null if there is no animal', async (store) => {
    const [pet] = (await add(store, REX)) as [Pet]
    for (const id of otherIds(pet.id))
      for (const options of [undefined, AVAILABLE]) await store.returns('remove', [id, options], undefined)
    await listReturns(store, { limit: 9 }, [pet])
  })
  rule('only one of many removals at once is applied', async (store) => {
    const [pet] = (await add(store, REX)) as [Pet]
    const calls = Array.from({ length: RIVALS }, (_, i) => store.call('remove', pet.id, i % 2 ? AVAILABLE : undefined))
    const results = (await Promise.all(calls)).filter((result) => result != null)
    equal(`${RIVALS} calls of remove at once: the results besides undefined`, results, [{ applied: true, pet }])
  })
  rule('pages stay full and in order after removals', async (store) => {
    const pets = await add(store, ...Array.from({ length: 12 }, (_, i) => ({ ...(i % 2 ? REX : SOLD), name: `${i}` })))
    for (const index of [11, 6, 5, 0]) {
      const [removed] = pets.splice(index, 1) as [Pet]
      await remove(store, removed)
      for (const limit of [1, 3, 8, 9])
        for (const after of [undefined, pets[1]?.id, removed.id - 1n, removed.id])
          for (const status of [undefined, 'sold'] as const)
            await listReturns(store, { limit, after, status }, pageOf(pets, { limit, after, status }))
    }
  })
  rule('create never gives the id of a removed animal again', (store) => neverAgain(store))
  rule('a repeat of an idempotency key gets the animal as it was added, after its removal', async (store) => {
    const first = await createWithKey(store)
    await remove(store, first)
    await createWithKey(store, { times: 3 }, first)
    await createWithKey(store, { pet: SOLD }, first)
    await listReturns(store, { limit: 9 }, [])
  })
}

/** Removes the newest animal, and then all animals, before more are added. */
export async function neverAgain(store: Storage, reopen = async () => {}): Promise<void> {
  const pets = await add(store, REX, REX)
  let last = pets[1]?.id
  for (const pet of pets.toReversed()) {
    await remove(store, pet)
    await reopen()
    const next = await createWithKey(store, { key: `order-${last}` }, undefined, last)
    await remove(store, next)
    await reopen()
    last = (await createWithKey(store, { key: `order-${next.id}` }, undefined, next.id)).id
    await remove(store, { ...REX, id: last })
  }
}
