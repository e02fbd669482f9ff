import { INT64_MAX, type Pet, type PetChanges, type PetMembers, type PetStatus, petOf } from '../model.ts'
import { freezeWithJson } from '../pets/json.ts'
import type { Clock, PetStorage } from '../ports.ts'
import { petWithId, positionAfter, putPet, takePet } from './sorted-pets.ts'
import { usedKeys } from './used-keys.ts'

type GivenPet = PetMembers & Partial<Pick<Pet, 'id'>>

/**
 * Creates a storage in memory. A page takes about the same time, however many animals there are.
 */
export function memoryStorage(clock: Clock, initialPets: readonly GivenPet[] = []): PetStorage {
  /** All animals by ascending id. No animal ever changes: `update` puts another one in its place. */
  const all: Pet[] = []
  /** The same animals, by ascending id in each list. */
  const byStatus: Record<PetStatus, Pet[]> = { available: [], pending: [], sold: [] }
  /** The greatest id that was ever given. */
  let lastId = 0n
  const used = usedKeys(clock)

  function add(given: PetMembers): Pet {
    if (lastId === INT64_MAX) throw new RangeError('no id is left: an animal has the greatest int64')
    lastId += 1n
    const pet = freezeWithJson(petOf(lastId, given))
    all.push(pet)
    byStatus[pet.status].push(pet)
    return pet
  }

  function restore(pets: readonly Pet[]): bigint[] {
    const existing: bigint[] = []
    // Sorted, because it takes much longer to put an animal before others than after them.
    for (const given of pets.toSorted((one, other) => Number(one.id - other.id))) {
      if (petWithId(all, given.id) !== undefined) {
        existing.push(given.id)
        continue
      }
      const pet = freezeWithJson(petOf(given.id, given))
      putPet(all, pet)
      putPet(byStatus[pet.status], pet)
      if (pet.id > lastId) lastId = pet.id
    }
    return existing
  }

  restore(initialPets.filter((pet): pet is Pet => pet.id !== undefined))
  for (const pet of initialPets) if (pet.id === undefined) add(pet)

  return {
    list({ limit, after = 0n, status }) {
      const pets = status === undefined ? all : byStatus[status]
      const start = positionAfter(pets, after)
      return pets.slice(start, start + limit)
    },
    create: (given, { idempotency } = {}) =>
      idempotency === undefined ? add(given) : used.use(idempotency, () => add(given)),
    get: (id) => petWithId(all, id),
    update(id, changes, options) {
      const pet = petWithId(all, id)
      if (pet === undefined) return undefined
      if (!meets(pet, options?.if)) return { applied: false, pet }
      const changed = freezeWithJson(petOf(id, withChanges(pet, changes)))
      putPet(all, changed)
      if (changed.status !== pet.status) takePet(byStatus[pet.status], id)
      putPet(byStatus[changed.status], changed)
      return { applied: true, pet: changed }
    },
    remove(id, options) {
      const pet = petWithId(all, id)
      if (pet === undefined) return undefined
      if (!meets(pet, options?.if)) return { applied: false, pet }
      takePet(all, id)
      takePet(byStatus[pet.status], id)
      return { applied: true, pet }
    },
    restore,
    count: (status) => (status === undefined ? all : byStatus[status]).length,
  }
}

function withChanges(pet: PetMembers, { name, categoryId, status }: PetChanges): PetMembers {
  return {
    name: name ?? pet.name,
    categoryId: categoryId ?? pet.categoryId,
    status: status ?? pet.status,
  } satisfies Record<keyof PetChanges, unknown>
}

/** Returns whether an animal has all values of a condition. */
function meets(pet: PetMembers, condition: PetChanges = {}): boolean {
  const expected = withChanges(pet, condition)
  return pet.name === expected.name && pet.categoryId === expected.categoryId && pet.status === expected.status
}
