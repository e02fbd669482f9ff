import * as z from 'zod/mini'
import { liveKey } from './keys/authenticate.ts'
import { keyChanges, newKeyWithoutHash } from './keys/new-key.ts'
import { type ApiKey, type Pet, type PetMembers, type PetStatus, petOf } from './model.ts'
import { KEY_PERIOD, keyText } from './pets/idempotency.ts'
import { freezeWithJson } from './pets/json.ts'
import type {
  Clock,
  CreatedPet,
  Idempotency,
  ManagedBackEnd,
  ManagedKeyStore,
  PetStorage,
  QuotaStore,
} from './ports.ts'
import { countRequest, newQuotaState, peekCount, type QuotaState } from './quota/counting-rule.ts'
import { planNames } from './schemas/key.ts'
import { clock, optionsOf, positiveInteger } from './schemas/options.ts'
import { parseOptions } from './schemas/parse-options.ts'
import { boundedMap } from './support/bounded-map.ts'
import { systemClock } from './support/time.ts'

/** The options of {@link memory}. */
export interface MemoryOptions {
  /** The clock, in milliseconds since the Unix epoch. @default the system clock */
  readonly clock?: Clock | undefined
  /**
   * The largest number of counters of keys and accounts. The least recently used ones are removed
   * first.
   * @default 100000
   */
  readonly maxCustomers?: number | undefined
  /**
   * The largest number of counters of client addresses. They count requests without a valid key.
   * @default 10000
   */
  readonly maxAddresses?: number | undefined
  /**
   * The names of your own plans, which `issue` then accepts, as it accepts `free`, `pro` and
   * `business`.
   * @default []
   */
  readonly plans?: readonly string[] | undefined
}

const memoryOptions = optionsOf<MemoryOptions>({
  clock: z.optional(clock),
  maxCustomers: z.optional(positiveInteger),
  maxAddresses: z.optional(positiveInteger),
  plans: z.optional(planNames),
})

/**
 * Creates the default back end. All data is in memory, and is lost when the process ends.
 * @throws {PetStoreError} `invalid_option`
 * @example
 * ```ts
 * import { createPetStore, memory } from 'petstore-kit'
 *
 * const backEnd = memory()
 * const { token, key } = await backEnd.keyStore.issue({ plan: 'pro', label: 'my first key' })
 * await backEnd.storage.create({ name: 'Rex', categoryId: 1n, status: 'available' })
 * const petStore = createPetStore({ ...backEnd })
 * ```
 */
export function memory(options: MemoryOptions = {}): ManagedBackEnd {
  const { clock = systemClock, maxCustomers, maxAddresses, plans } = parseOptions(memoryOptions, options)
  return {
    storage: memoryStorage(clock),
    keyStore: memoryKeyStore(clock, plans),
    quota: memoryQuota(maxCustomers, maxAddresses),
  }
}

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

/** Creates the list of used idempotency keys. No key is removed within 48 hours. */
export function usedKeys(clock: Clock) {
  /** The use of each idempotency key. The oldest one comes first. */
  const uses = new Map<string, { readonly pet: Pet; readonly fingerprint: string; readonly expiresAt: number }>()

  function removeExpired(now: number): void {
    for (const [name, { expiresAt }] of uses) {
      // Keys from a time when the clock was ahead expire too late. Without the second condition, no
      // key after them would be removed.
      if (expiresAt > now && expiresAt <= now + 2 * KEY_PERIOD) return
      uses.delete(name)
    }
  }

  return {
    /**
     * Returns the animal that this key has added within 48 hours, as it was then. If there is none,
     * adds one by `add`.
     */
    use(idempotency: Idempotency, add: () => Pet): CreatedPet {
      const now = clock.now()
      removeExpired(now)
      const { fingerprint } = idempotency
      const name = keyText(idempotency)
      const known = uses.get(name)
      if (known !== undefined && known.expiresAt > now)
        return { ...known.pet, earlier: known.fingerprint === fingerprint ? 'same' : 'different' }
      // Otherwise, a key that is used again would stay in front of older keys. `removeExpired`
      // stops at the first key that is still valid, so it would not remove these.
      uses.delete(name)
      const pet = add()
      uses.set(name, { pet, fingerprint, expiresAt: now + KEY_PERIOD })
      return pet
    },
  }
}

export function memoryKeyStore(clock: Clock, plans?: readonly string[]): ManagedKeyStore {
  /**
   * Each key by its token. Other key stores keep a hash instead of the token, because a file or a
   * database can be stolen. Here, it would protect nothing, because each request brings its token
   * into the same memory, and hashing takes longer than the look-up.
   */
  const byToken = new Map<string, { key: ApiKey }>()
  /**
   * Each key that is not revoked, by its id. Both maps hold the same objects: a new `key` in an
   * object is seen in both.
   */
  const byId = new Map<string, { key: ApiKey }>()

  return {
    find: (token) => liveKey(byToken.get(token)?.key, clock.now()),
    async issue(options) {
      const { token, key } = newKeyWithoutHash(options, clock.now(), plans)
      const entry = { key }
      byToken.set(token, entry)
      byId.set(key.id, entry)
      return { token, key }
    },
    async update(id, changes) {
      const members = keyChanges(changes, plans)
      const entry = byId.get(id)
      if (entry === undefined) return undefined
      const changed = Object.entries({ ...entry.key, ...Object.fromEntries(members) })
      entry.key = Object.freeze(Object.fromEntries(changed.filter(([, value]) => value !== null)) as unknown as ApiKey)
      return entry.key
    },
    async revoke(id) {
      const entry = byId.get(id)
      if (entry === undefined) return false
      byId.delete(id)
      entry.key = Object.freeze({ ...entry.key, revokedAt: clock.now() })
      return true
    },
    list: async () => Array.from(byToken.values(), ({ key }) => key),
  }
}

/**
 * Creates a quota store in memory. Client addresses have their own map: many addresses must not
 * push out a customer's count.
 */
export function memoryQuota(maxCustomers = 100_000, maxAddresses = 10_000): QuotaStore {
  const customers = boundedMap<QuotaState>(maxCustomers)
  const addresses = boundedMap<QuotaState>(maxAddresses)
  return {
    spend(request) {
      const states = request.anonymous ? addresses : customers
      const known = states.get(request.subject)
      const state = known ?? newQuotaState()
      if (known === undefined) states.set(request.subject, state)
      return countRequest(state, request)
    },
    peek(request) {
      const states = request.anonymous ? addresses : customers
      return peekCount(states.peek(request.subject) ?? newQuotaState(), request)
    },
    reset({ subject, anonymous }) {
      const states = anonymous ? addresses : customers
      states.delete(subject)
    },
  }
}
