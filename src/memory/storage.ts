import type { NewPet, Pet, PetStatus } from '../model.ts'
import { fingerprintOf, KEY_PERIOD, keyText } from '../pets/idempotency.ts'
import type { Clock, PetStorage } from '../ports.ts'

/** Creates a storage in memory. A page takes about the same time, however many animals there are. */
export function memoryStorage(clock: Clock): PetStorage {
  const all: Pet[] = []
  /** For each status, the positions of its animals in `all`. */
  const positions: Record<PetStatus, number[]> = { available: [], pending: [], sold: [] }

  const used = usedKeys(clock)

  function add({ name, categoryId, status }: NewPet): Pet {
    const id = BigInt(all.length + 1)
    const complete = { id, name, categoryId, status } satisfies Record<keyof Pet, unknown>
    const pet: Pet = Object.freeze(status === undefined ? { id, name, categoryId } : complete)
    if (status !== undefined) positions[status].push(all.length)
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
    create: add,
    createOnce(given, { scope, key, fingerprint }) {
      const earlier = used.use(scope, key, all.length)
      if (earlier === undefined) return add(given)
      const first = all[earlier] as Pet
      // The fingerprint of the first animal is computed here instead of being stored: stored animals never change.
      return { ...given, id: first.id, earlier: fingerprintOf(first) === fingerprint ? 'same' : 'different' }
    },
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

/** Creates the list of used idempotency keys. No key is removed within 48 hours. */
export function usedKeys(clock: Clock) {
  /** For each idempotency key, the position of its animal. The oldest key comes first. */
  const uses = new Map<string, { readonly position: number; readonly expiresAt: number }>()

  function removeExpired(now: number): void {
    for (const [name, { expiresAt }] of uses) {
      // Keys from a time when the clock was ahead expire too late. Without the second condition, no key after them would be removed.
      if (expiresAt > now && expiresAt <= now + 2 * KEY_PERIOD) return
      uses.delete(name)
    }
  }

  return {
    /** Returns the position of the animal that this key has added within 48 hours. If there is none, saves `position`. */
    use(scope: string, key: string, position: number): number | undefined {
      const now = clock.now()
      removeExpired(now)
      const name = keyText({ scope, key })
      const known = uses.get(name)
      if (known !== undefined && known.expiresAt > now) return known.position
      // Without this line, a key that is used again would keep its old place, and `removeExpired` would always stop there.
      uses.delete(name)
      uses.set(name, { position, expiresAt: now + KEY_PERIOD })
      return undefined
    },
  }
}
