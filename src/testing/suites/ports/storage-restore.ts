import type { Pet } from '../../../model.ts'
import { equal } from './report.ts'
import { add, addAtOnce, listReturns, pageOf, restore } from './storage-calls.ts'
import type { AddRule } from './storage-update.ts'
import { HARD_TEXTS, INT64S, REX, SOLD } from './values.ts'

const HARD_PETS: readonly Pet[] = [
  ...INT64S.map((categoryId) => ({ ...REX, categoryId })),
  ...HARD_TEXTS.map((name) => ({ ...SOLD, name })),
].map((members, i) => ({ id: BigInt(3 + 2 * i), ...members }))

/** Adds the rules of `restore`. */
export function restoreRules(rule: AddRule): void {
  rule('restore adds animals with their ids, in any order', async (store) => {
    await restore(store, [])
    await restore(store, HARD_PETS.toReversed())
    for (const status of [undefined, 'sold'] as const)
      await listReturns(store, { limit: 99, status }, pageOf(HARD_PETS, { limit: 99, status }))
    for (const pet of HARD_PETS) await store.returns('get', [pet.id], pet)
    const [before, between, after] = [3n, 4n, 5n].map((id) => HARD_PETS.find((pet) => pet.id === id) ?? { ...REX, id })
    await restore(store, [between as Pet])
    await listReturns(store, { limit: 3 }, [before, between, after] as Pet[])
  })
  rule('restore leaves an animal whose id exists, and returns its id', async (store) => {
    const [pet] = (await add(store, REX)) as [Pet]
    const other = { ...SOLD, id: pet.id + 5n }
    await restore(store, [other, { ...SOLD, id: pet.id }], [pet.id])
    await restore(
      store,
      [
        { ...REX, id: other.id },
        { ...SOLD, id: pet.id },
      ],
      [pet.id, other.id],
    )
    await listReturns(store, { limit: 9 }, [pet, other])
  })
  rule('create gives ids above all that were restored', async (store) => {
    const last = 2n ** 53n + 1n
    await restore(
      store,
      [7n, last].map((id) => ({ ...REX, id })),
    )
    const next = await addAtOnce(store, Array(9).fill(REX), last)
    await restore(store, [{ ...REX, id: 5n }])
    await addAtOnce(store, Array(9).fill(REX), next.at(-1)?.id)
    await listReturns(
      store,
      { limit: 2 },
      [5n, 7n].map((id) => ({ ...REX, id })),
    )
  })
  rule('animals that are restored and added at once have different ids', async (store) => {
    const given = Array.from({ length: 9 }, (_, i) => ({ ...SOLD, id: BigInt(3 * i + 2) }))
    const adding = Promise.all(Array.from({ length: 9 }, () => store.call('create', REX)))
    const [added, existing] = await Promise.all([adding, store.call('restore', given)])
    const restored = given.filter(({ id }) => !existing.includes(id))
    for (const pet of [...added.map(({ id }) => ({ ...REX, id })), ...restored])
      await store.returns('get', [pet.id], pet)
    const all = await store.call('list', { limit: 99 })
    equal('9 calls of create and a restore of 9 at once: the animals', all.length, 18 - existing.length)
  })
}
