import type { Pet, PetStatus } from '../model.ts'
import type { PetStorage } from '../ports.ts'

/** Animals in memory: all of them in one list, and those of each status in another, so that a page costs the page. */
export function memoryStorage(): PetStorage {
  const all: Pet[] = []
  const byStatus: Record<PetStatus, Pet[]> = { available: [], pending: [], sold: [] }

  return {
    list({ limit, after, status }) {
      const pets = status === undefined ? all : byStatus[status]
      const start = after === undefined ? 0 : firstAfter(pets, after)
      return pets.slice(start, start + limit)
    },
    create({ name, categoryId, status }) {
      const id = BigInt(all.length + 1)
      const pet = Object.freeze(status === undefined ? { id, name, categoryId } : { id, name, categoryId, status })
      all.push(pet)
      if (status !== undefined) byStatus[status].push(pet)
      return pet
    },
    get: (id) => (id < 1n || id > BigInt(all.length) ? undefined : all[Number(id) - 1]),
  }
}

/** Where the ids greater than `after` begin. */
function firstAfter(pets: readonly Pet[], after: bigint): number {
  let low = 0
  let high = pets.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((pets[middle] as Pet).id > after) high = middle
    else low = middle + 1
  }
  return low
}
