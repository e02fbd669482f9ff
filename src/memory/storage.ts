import { type Pet, type PetStatus, petStatuses } from '../model.ts'
import type { PetStorage } from '../ports.ts'

/** The number of ids that share one entry of the index. */
const BLOCK = 64

/**
 * Creates a storage in memory, with one list of all animals and one list for each status. The time to read a page does not depend
 * on the number of animals.
 */
export function memoryStorage(): PetStorage {
  const all: Pet[] = []
  const empty = petStatuses.map((status): [PetStatus, StatusList] => [status, { pets: [], index: [] }])
  const lists = Object.fromEntries(empty) as Record<PetStatus, StatusList>

  return {
    list({ limit, after, status }) {
      // Ids begin with 1, so the id of an animal is the index of the next animal.
      const start = after === undefined || after < 0n ? 0 : Math.min(Number(after), all.length)
      if (status === undefined) return all.slice(start, start + limit)
      const { pets, index } = lists[status]
      const first = firstAfter(pets, index, start)
      return pets.slice(first, first + limit)
    },
    create({ name, categoryId, status }) {
      const id = BigInt(all.length + 1)
      const pet = Object.freeze(status === undefined ? { id, name, categoryId } : { id, name, categoryId, status })
      if (all.length % BLOCK === 0) for (const { pets, index } of Object.values(lists)) index.push(pets.length)
      all.push(pet)
      if (status !== undefined) lists[status].pets.push(pet)
      return pet
    },
    get: (id) => (id < 1n || id > BigInt(all.length) ? undefined : all[Number(id) - 1]),
  }
}

/** The animals of one status. `index[n]` is how many of these animals have an id in a block before block `n`. */
interface StatusList {
  readonly pets: Pet[]
  readonly index: number[]
}

/** Returns the position of the first animal with an id greater than `after`. Searches only the block that contains `after`. */
function firstAfter(pets: readonly Pet[], index: readonly number[], after: number): number {
  const block = Math.floor(after / BLOCK)
  let low = index[block] ?? pets.length
  let high = index[block + 1] ?? pets.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((pets[middle] as Pet).id > after) high = middle
    else low = middle + 1
  }
  return low
}
