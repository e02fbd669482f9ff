import { keyChanges, newKey } from '../keys/new-key.ts'
import { hashToken, isToken } from '../keys/token.ts'
import type { ApiKey, NewPet, Pet, PetStatus } from '../model.ts'
import { fingerprintOf } from '../pets/idempotency.ts'
import type {
  Clock,
  ManagedBackEnd,
  ManagedKeyStore,
  PetStorage,
  QuotaCount,
  QuotaRequest,
  QuotaStore,
} from '../ports.ts'
import { countRequest, newQuotaState } from '../quota/fixed-windows.ts'
import { checkOptions, clockRule, countRule, planNamesRule } from '../support/option-rules.ts'
import { systemClock } from '../support/time.ts'
import { usedKeys } from './used-keys.ts'

/** The options of {@link memory}. */
export interface MemoryOptions {
  /** The clock, in milliseconds since the Unix epoch. @default the system clock */
  readonly clock?: Clock | undefined
  /** The largest number of keys and accounts with counts. Those not used for long are forgotten first. @default 100000 */
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
    const pet = Object.freeze(status === undefined ? { id, name, categoryId } : { id, name, categoryId, status })
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
  const countCustomer = boundedCounts(maxCustomers)
  const countAddress = boundedCounts(maxAddresses)
  return { spend: (request) => (request.anonymous ? countAddress : countCustomer)(request) }
}

/** How many numbers each subject has: the six of its state, and 1 if the subject was used again. */
const WIDTH = 7
const USED = 6

/**
 * Returns a function that counts the requests of at most `max` subjects. A new subject takes the place of the next one, in turn,
 * that has not been used since the last turn.
 *
 * The states are numbers in one list. With an object per subject, each count would read more places of the memory, and the garbage
 * collector would visit all objects. `lru-cache` takes twice as long.
 */
export function boundedCounts(max: number): (request: QuotaRequest) => QuotaCount {
  const starts = new Map<string, number>()
  const subjects: string[] = []
  const numbers: number[] = []
  const state = newQuotaState()
  /** Whose turn it is to be replaced. */
  let turn = 0

  /** Returns where the numbers of a new subject start. */
  function add(subject: string): number {
    let place = subjects.length
    if (place === max) {
      for (; numbers[WIDTH * turn + USED] === 1; turn = (turn + 1) % max) numbers[WIDTH * turn + USED] = 0
      place = turn
      turn = (turn + 1) % max
      starts.delete(subjects[place] as string)
    }
    subjects[place] = subject
    for (let i = 0; i < WIDTH; i++) numbers[WIDTH * place + i] = 0
    starts.set(subject, WIDTH * place)
    return WIDTH * place
  }

  return (request) => {
    const known = starts.get(request.subject)
    const start = known ?? add(request.subject)
    if (known !== undefined) numbers[start + USED] = 1
    state.usedInMinute = numbers[start] as number
    state.minuteEndsAt = numbers[start + 1] as number
    state.usedInDay = numbers[start + 2] as number
    state.dayEndsAt = numbers[start + 3] as number
    state.refusedInMinute = numbers[start + 4] as number
    state.bannedUntil = numbers[start + 5] as number
    const count = countRequest(state, request)
    numbers[start] = state.usedInMinute
    numbers[start + 1] = state.minuteEndsAt
    numbers[start + 2] = state.usedInDay
    numbers[start + 3] = state.dayEndsAt
    numbers[start + 4] = state.refusedInMinute
    numbers[start + 5] = state.bannedUntil
    return count
  }
}
