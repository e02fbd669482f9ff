import type { Pet } from '../model.ts'
import type { PetStorage } from '../ports.ts'

/** How many ids share one entry of the index. */
const BLOCK = 64

/** Animals in memory: all of them in one list, and those of each status in another, so that a page costs the page. */
export function memoryStorage(): PetStorage {
  const all: Pet[] = []
  const lists = { available: statusList(), pending: statusList(), sold: statusList() }

  return {
    list({ limit, after, status }) {
      // Ids are counted from 1, so that an animal's id is the place of the one after it.
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

/** The animals of one status, and how many of them stand before each block of ids. */
function statusList(): { readonly pets: Pet[]; readonly index: number[] } {
  return { pets: [], index: [] }
}

/** Where the ids greater than `after` begin: somewhere in the part of its block, however many animals there are. */
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
