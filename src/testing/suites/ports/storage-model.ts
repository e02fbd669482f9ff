import { MAX_LIMIT, type Pet, type PetMembers, type PetStatus, petStatuses } from '../../../model.ts'
import { KEY_PERIOD, keyText } from '../../../pets/idempotency.ts'
import type { ChangeOptions } from '../../../ports.ts'
import { difference } from './report.ts'
import {
  addAtOnce,
  byId,
  change,
  checkAdded,
  createWithKey,
  listReturns,
  pageOf,
  remove,
  restore,
  type Storage,
  withChanges,
} from './storage-calls.ts'
import type { FastCheck, On } from './suite.ts'
import { INT64S, newPets, petChanges, REX, SOLD } from './values.ts'

/** What a storage must contain. */
export const newModel = () => ({
  /** By ascending id. */
  pets: [] as Pet[],
  /** The greatest id that was ever given. */
  last: 0n,
  /** For each idempotency key, the animal as it was added, and when the key expires. */
  uses: new Map<string, { readonly pet: Pet; readonly endsAt: number }>(),
})
type Model = ReturnType<typeof newModel>

function addToModel(model: Model, pets: readonly Pet[]): void {
  model.pets.push(...pets)
  model.pets.sort(byId)
  for (const { id } of pets) if (id > model.last) model.last = id
}

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
  const condition = fc.constantFrom<Condition[]>(undefined, 'as it is', ...petStatuses)
  return [
    on('create', newPets(fc), async (model, store, pet) =>
      addToModel(model, [checkAdded(pet, await store.call('create', pet, {}), model.last)]),
    ),
    on('create at once', fc.array(newPets(fc), { minLength: 2, maxLength: 12 }), async (model, store, several) =>
      addToModel(model, await addAtOnce(store, several, model.last)),
    ),
    on('create with a key', keyed, async (model, store, call) => {
      const now = store.clock.now()
      const use = model.uses.get(keyText(call))
      const first = use && now < use.endsAt ? use.pet : undefined
      const pet = await createWithKey(store, call, first, model.last)
      if (first) return
      addToModel(model, [pet])
      model.uses.set(keyText(call), { pet, endsAt: now + KEY_PERIOD })
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
    on(
      'update',
      fc.record({ id, changes: petChanges(fc), condition }),
      async ({ pets }, store, call) => {
        const id = idOf(call.id, pets)
        const pet = pets.find((pet) => pet.id === id)
        const options = optionsFor(pet, call.condition)
        if (pet && meets(pet, options)) pets[pets.indexOf(pet)] = await change(store, pet, call.changes, options)
        else await store.returns('update', [id, call.changes, options], pet && { applied: false, pet })
      },
      'update',
    ),
    on(
      'remove',
      fc.record({ id, condition }),
      async ({ pets }, store, call) => {
        const id = idOf(call.id, pets)
        const pet = pets.find((pet) => pet.id === id)
        const options = optionsFor(pet, call.condition)
        if (!pet || !meets(pet, options)) return store.returns('remove', [id, options], pet && { applied: false, pet })
        await remove(store, pet, options)
        pets.splice(pets.indexOf(pet), 1)
      },
      'remove',
    ),
    on(
      'restore',
      fc.array(fc.tuple(near, newPets(fc)), { maxLength: 5 }),
      async (model, store, several) => {
        // A `Map`, because each id may be given only once.
        const given = new Map(several.map(([choice, pet]) => [idOf(choice, model.pets), pet]))
        const pets = Array.from(given, ([id, pet]) => ({ id, ...pet })).filter(({ id }) => id > 0n)
        const existing = pets.map(({ id }) => id).filter((id) => model.pets.some((pet) => pet.id === id))
        await restore(store, pets, existing)
        addToModel(
          model,
          pets.filter(({ id }) => !existing.includes(id)),
        )
      },
      'restore',
    ),
    on(
      'count',
      status,
      ({ pets }, store, status) => {
        const { length } = pageOf(pets, { limit: pets.length, status })
        return store.returns('count', [status], length)
      },
      'count',
    ),
    on('clock.advance', fc.constantFrom(1, KEY_PERIOD / 4, KEY_PERIOD - 1, KEY_PERIOD), (_, { clock }, time) =>
      clock.advance(time),
    ),
    on('reopen', fc.constant(0), (_, store) => store.reopen(), 'reopen'),
  ]
}

type Condition = PetStatus | 'as it is' | undefined

/** Returns the options of a call: no condition, one that the animal meets, or one for its status. */
function optionsFor(pet: PetMembers = REX, condition: Condition): ChangeOptions | undefined {
  if (condition === undefined) return undefined
  if (condition !== 'as it is') return { if: { status: condition } }
  const { name, categoryId, status } = pet
  return { if: { name, categoryId, status } }
}

function meets(pet: Pet, options: ChangeOptions | undefined): boolean {
  return difference(withChanges(pet, options?.if ?? {}), pet) === undefined
}
