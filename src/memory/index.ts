import { keyChanges, newKey } from '../keys/new-key.ts'
import { hashToken, isToken } from '../keys/token.ts'
import type { ApiKey, NewPet, Pet, PetStatus } from '../model.ts'
import { fingerprintOf } from '../pets/idempotency.ts'
import type { Clock, ManagedBackEnd, ManagedKeyStore, PetStorage, QuotaStore } from '../ports.ts'
import { countRequest, newQuotaState, type QuotaState } from '../quota/fixed-windows.ts'
import { boundedMap } from '../support/bounded-map.ts'
import { checkOptions, clockRule, countRule, planNamesRule } from '../support/option-rules.ts'
import { systemClock } from '../support/time.ts'
import { usedKeys } from './used-keys.ts'

/** The options of {@link memory}. */
export interface MemoryOptions {
  /** The clock, in milliseconds since the Unix epoch. @default the system clock */
  readonly clock?: Clock | undefined
  /** The largest number of keys and accounts with counts. The least recently used are forgotten first. @default 100000 */
  readonly maxCustomers?: number | undefined
  /** The largest number of client addresses with counts, for requests without a valid key. @default 10000 */
  readonly maxAddresses?: number | undefined
  /** The names of your own plans, which `issue` accepts besides `free`, `pro` and `business`. @default [] */
  readonly plans?: readonly string[] | undefined
}

const RULES = { clock: clockRule, maxCustomers: countRule, maxAddresses: countRule, plans: planNamesRule }

/**
 * Creates the default back end. Everything is in memory, and lost when the process ends.
 *
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
  checkOptions(RULES, options)
  const { clock = systemClock, maxCustomers, maxAddresses, plans } = options
  return {
    storage: memoryStorage(clock),
    keyStore: memoryKeyStore(clock, plans),
    quota: memoryQuota(maxCustomers, maxAddresses),
  }
}

/** Creates a storage in memory. The time to read a page hardly depends on the number of animals. */
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
      // Ids begin with 1, so the id of an animal is the position of the next animal.
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
      // The fingerprint of the first animal is not kept, because the animal has not changed.
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

/** Creates a key store in memory, which finds keys by the SHA-256 of their token. */
export function memoryKeyStore(clock: Clock, plans?: readonly string[]): ManagedKeyStore {
  /** Entries by the hash of their token. A change replaces the key of an entry. */
  const byHash = new Map<string, { key: ApiKey }>()
  /** The entry of each key that is not revoked, by its id. */
  const byId = new Map<string, { key: ApiKey }>()
  // Known tokens need no hashing, which takes longer than the rest of a request. Only tokens of issued keys are added.
  const byToken = new Map<string, { key: ApiKey }>()
  const running = new Map<string, Promise<ApiKey | undefined>>()

  const live = ({ key }: { readonly key: ApiKey }) => (key.revokedAt === undefined ? key : undefined)
  const hashAndFind = async (token: string) => {
    const hash = await hashToken(token).finally(() => running.delete(token))
    const entry = byHash.get(hash)
    if (entry !== undefined) byToken.set(token, entry)
    return entry && live(entry)
  }
  return {
    find(token) {
      const entry = byToken.get(token)
      if (entry !== undefined) return live(entry)
      if (!isToken(token)) return undefined
      // Concurrent requests with the same token share one hashing, so that they continue in the order of their arrival.
      const finding = running.get(token) ?? hashAndFind(token)
      running.set(token, finding)
      return finding
    },
    async issue(options) {
      const { token, hash, key } = await newKey(options, clock.now(), plans)
      const entry = { key }
      byHash.set(hash, entry)
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
    list: async () => Array.from(byHash.values(), ({ key }) => key),
  }
}

/** Creates a quota store in memory. Client addresses have their own map, so that they cannot push out a customer's count. */
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
  }
}
