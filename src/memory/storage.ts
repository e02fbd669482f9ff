import { type Pet, type PetMembers, type PetStatus, petOf } from '../model.ts'
import { freezeWithJson } from '../pets/json.ts'
import type { Clock, PetStorage } from '../ports.ts'
import { usedKeys } from './used-keys.ts'

/**
 * Creates a storage in memory. A page takes about the same time, however many animals there are.
 */
export function memoryStorage(clock: Clock): PetStorage {
  const all: Pet[] = []
  /** For each status, the positions of its animals in `all`. */
  const positions: Record<PetStatus, number[]> = { available: [], pending: [], sold: [] }

  const used = usedKeys(clock)

  function add(given: PetMembers): Pet {
    const pet = freezeWithJson(petOf(BigInt(all.length + 1), given))
    positions[pet.status].push(all.length)
    all.push(pet)
    return pet
  }

  return {
    list({ limit, after, status }) {
      // The first id is 1 at position 0, so the animal after the id 7 is at position 7.
      const start = Math.max(0, Number(after ?? 0n))
      if (status === undefined) return all.slice(start, start + limit)
      const first = firstFrom(positions[status], start)
      return positions[status].slice(first, first + limit).map((position) => all[position] as Pet)
    },
    create: (given, { idempotency } = {}) =>
      idempotency === undefined ? add(given) : used.use(idempotency, () => add(given)),
    get: (id) => all[Number(id) - 1],
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
