import { MAX_LIMIT, type Pet, petStatuses } from '../../../model.ts'
import { KEY_PERIOD, keyText } from '../../../pets/idempotency.ts'
import { addAtOnce, checkAdded, createWithKey, listReturns, pageOf, type Storage } from './storage-calls.ts'
import type { FastCheck, On } from './suite.ts'
import { INT64S, newPets, REX, SOLD } from './values.ts'

/** The animals, and for each idempotency key, the animal that it has added, and when the key expires. */
export const newModel = () => ({
  pets: [] as Pet[],
  uses: new Map<string, { readonly pet: Pet; readonly endsAt: number }>(),
})
type Model = ReturnType<typeof newModel>

export function commandsOf(fc: FastCheck, on: On<Model, Storage>) {
  const status = fc.constantFrom(undefined, ...petStatuses)
  const limit = fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: MAX_LIMIT + 1 }))
  // The ids are known only during the test. A storage might confuse an id with another one near it.
  const near = fc.record({ index: fc.nat(), offset: fc.constantFrom(0n, 0n, -1n, 1n, 2n ** 32n) })
  const id = fc.oneof({ arbitrary: near, weight: 3 }, fc.constantFrom(...INT64S))
  const idOf = (choice: bigint | { index: number; offset: bigint }, pets: readonly Pet[]) =>
    typeof choice === 'bigint' ? choice : (pets[choice.index % pets.length]?.id ?? 0n) + choice.offset
  const keyed = fc.record({
    pet: fc.oneof(fc.constantFrom(REX, SOLD), newPets(fc)),
    scope: fc.constantFrom('account:acme', 'key:7'),
    key: fc.constantFrom('order-1', 'order-2', '~'.repeat(255)),
    times: fc.constantFrom(1, 1, 5),
  })
  return [
    on('create', newPets(fc), async ({ pets }, store, pet) =>
      pets.push(checkAdded(pet, await store.call('create', pet, {}), pets.at(-1)?.id)),
    ),
    on('create at once', fc.array(newPets(fc), { minLength: 2, maxLength: 12 }), async ({ pets }, store, several) =>
      pets.push(...(await addAtOnce(store, several, pets.at(-1)?.id))),
    ),
    on('create with a key', keyed, async ({ pets, uses }, store, call) => {
      const now = store.clock.now()
      const use = uses.get(keyText(call))
      const first = use && now < use.endsAt ? use.pet : undefined
      const pet = await createWithKey(store, call, first, pets.at(-1)?.id)
      if (first) return
      pets.push(pet)
      uses.set(keyText(call), { pet, endsAt: now + KEY_PERIOD })
    }),
    on('list', fc.record({ limit, status, after: fc.option(id) }), ({ pets }, store, { after, ...rest }) => {
      const query = { ...rest, ...(after !== null && { after: idOf(after, pets) }) }
      return listReturns(store, query, pageOf(pets, query))
    }),
    on('get', id, ({ pets }, store, choice) => {
      const id = idOf(choice, pets)
      const expected = pets.find((pet) => pet.id === id)
      return store.returns('get', [id], expected)
    }),
    on('clock.advance', fc.constantFrom(1, KEY_PERIOD / 4, KEY_PERIOD - 1, KEY_PERIOD), (_, { clock }, time) =>
      clock.advance(time),
    ),
    on('reopen', fc.constant(0), (_, store) => store.reopen(), 'reopen'),
  ]
}
