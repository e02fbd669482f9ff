import type { NewPet, Pet, PetStatus } from '../model.ts'
import type { PetStorage } from '../ports.ts'
import { usedKeys } from './used-keys.ts'

/** Creates a storage in memory. The time to read a page hardly depends on the number of animals. */
export function memoryStorage(): PetStorage {
  const all: Pet[] = []
  /** For each status, the positions of its animals in `all`. */
  const positions: Record<PetStatus, number[]> = { available: [], pending: [], sold: [] }

  const used = usedKeys()

  function add({ name, categoryId, status }: NewPet): Pet {
    const id = BigInt(all.length + 1)
    const pet = Object.freeze(status === undefined ? { id, name, categoryId } : { id, name, categoryId, status })
    if (status !== undefined) positions[status].push(all.length)
    all.push(pet)
    return pet
  }

  const create: PetStorage['create'] = (given, { idempotency } = {}) => {
    if (idempotency === undefined) return add(given)
    const earlier = used.find(idempotency)
    if (earlier === undefined) {
      const pet = add(given)
      used.add(idempotency, pet.id)
      return pet
    }
    const isSame = earlier.fingerprint === idempotency.fingerprint
    return { ...given, id: earlier.petId, earlier: isSame ? 'same' : 'different' }
  }

  return {
    list({ limit, after, status }) {
      // Ids begin with 1, so the id of an animal is the position of the next animal.
      const start = after === undefined || after < 0n ? 0 : Math.min(Number(after), all.length)
      if (status === undefined) return all.slice(start, start + limit)
      const first = firstFrom(positions[status], start)
      return positions[status].slice(first, first + limit).map((position) => all[position] as Pet)
    },
    create,
    idempotentCreate: create,
    get: (id) => (id < 1n || id > BigInt(all.length) ? undefined : all[Number(id) - 1]),
  }
}

/** Returns the index of the first number that is at least `start`, in a sorted list. */
function firstFrom(sorted: readonly number[], start: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] as number) >= start) high = middle
    else low = middle + 1
  }
  return low
}
