import { createPetStoreClient, type PetStoreClient } from '../client/index.ts'
import { isBelow, pathOf } from '../http/request-target.ts'
import { memory } from '../memory/index.ts'
import { isInt64, type NewPet, petStatuses } from '../model.ts'
import { type PetStoreOptions, resolvePlans, storeRules } from '../options.ts'
import { createPetStore, fetchThrough, type PetStore, type PetStoreFetch } from '../pet-store.ts'
import { linkBaseOf } from '../pets/pagination.ts'
import type { Clock, ManagedKeyStore, PetStorage, QuotaStore } from '../ports.ts'
import { checkOptions, invalidOption, isObject, type OptionRules } from '../support/option-rules.ts'
import { systemClock } from '../support/system-clock.ts'
import { type ManualClock, manualClock } from './clock.ts'
import { type PortFaults, portFaults } from './faults.ts'
import { fetchLike } from './fetch.ts'
import { type RecordedRequest, recordRequests } from './journal.ts'

/** A pet store for one test, with its parts. Every function may be used detached. */
export interface TestPetStore<TheClock extends Clock = ManualClock> extends PetStore {
  /** The pet store to mount in a server or to pass to an adapter. */
  readonly petStore: PetStore
  /**
   * Sends a request to this store, whatever the address. It behaves like the global `fetch`: it accepts a URL, a string or a
   * `Request`, rejects if its signal aborts, and sets `response.url`. It adds no key.
   */
  readonly fetch: typeof globalThis.fetch & PetStoreFetch
  /**
   * Sends a request with the key: `request('/pets?limit=2')`, `request('/pets', { method: 'POST', body })`. A path without the
   * base path gets it, and the target of a `Link` works as it is.
   */
  readonly request: (path: string, init?: RequestInit) => Promise<Response>
  /** A client with the key. If the clock is a {@link ManualClock}, a wait of the client advances it and takes no time. */
  readonly client: PetStoreClient
  /** The token of the key. */
  readonly token: string
  /** The clock of the store. The default starts at the time of creation and stands still until the test moves it. */
  readonly clock: TheClock
  /** The animals, to add and read without a request. */
  readonly storage: PetStorage
  /** The keys, to issue and revoke more. */
  readonly keyStore: ManagedKeyStore
  /** The counts, to spend without a request. */
  readonly quota: QuotaStore
  /** Makes storage, key store and quota store fail or wait. */
  readonly faults: PortFaults
  /** The journal: the last 1,000 requests, the oldest first, with their responses. */
  readonly requests: readonly RecordedRequest[]
  /**
   * Returns to the initial state: the animals of the option `pets`, the same key and token, no counts, no faults, an empty journal.
   * The default clock returns to its start. A clock that you passed in is not changed.
   */
  readonly reset: () => Promise<void>
}

/** An animal to begin with. */
export interface SeedPet extends Omit<NewPet, 'categoryId'> {
  /** The category, an int64. @default 1n */
  readonly categoryId?: bigint | undefined
}

/** The options of {@link createTestPetStore}: those of `createPetStore` without the ports, and the seed. */
export interface TestPetStoreOptions<TheClock extends Clock = ManualClock>
  extends Omit<PetStoreOptions, 'storage' | 'keyStore' | 'quota' | 'clock'> {
  /** The animals to begin with; their ids begin with 1. @default none */
  readonly pets?: readonly SeedPet[] | undefined
  /** The plan of the key. @default 'free' */
  readonly plan?: string | undefined
  /** The token of the key. @default a new one */
  readonly token?: string | undefined
  /**
   * The clock: a {@link ManualClock}, or any object with `now`. With `Date`, the store follows the fake timers of vitest, Jest and
   * node:test, also those that start later.
   * @default a {@link ManualClock} that starts at the time of creation and stands still
   */
  readonly clock?: TheClock | undefined
}

/** A store between two resets. */
interface Generation {
  readonly storage: PetStorage
  readonly keyStore: ManagedKeyStore
  readonly quota: QuotaStore
  readonly petStore: PetStore
  readonly token: string
}

const PORTS = ['storage', 'keyStore', 'quota'] as const

const testRules: OptionRules = {
  pets: { expected: 'an array of { name, categoryId, status }', check: Array.isArray },
  plan: { expected: 'the name of a plan', check: (value) => typeof value === 'string' },
  token: {
    expected: 'a string of letters, digits and -._~+/',
    check: (value) => typeof value === 'string' && /^[\w\-.~+/]+=*$/.test(value),
  },
  clock: storeRules.clock,
  ...Object.fromEntries(Object.entries(storeRules).filter(([name]) => !PORTS.some((port) => port === name))),
}

/**
 * Creates a pet store in memory with one key, on a clock that starts at the time of creation and stands still.
 *
 * @throws {PetStoreError} `invalid_option`, as `createPetStore` does, and for a port, since the test store has its own
 * @example
 * ```ts
 * import { createTestPetStore } from 'petstore-kit/testing'
 *
 * const { request, requests } = await createTestPetStore({ pets: [{ name: 'Ada' }] })
 * const response = await request('/pets', { method: 'POST', body: '{"name":"Rex","categoryId":1}' })
 * console.log(response.status, requests.length) // 201 1
 * ```
 */
export async function createTestPetStore<TheClock extends Clock = ManualClock>(
  options: TestPetStoreOptions<TheClock> = {},
): Promise<TestPetStore<TheClock>> {
  checkTestOptions(options)
  const ownClock = options.clock === undefined ? manualClock(systemClock.now()) : undefined
  const start = ownClock?.now()
  const shownClock: Clock = options.clock ?? (ownClock as ManualClock)
  // Fake timers that start later put another `Date` in its place. The system clock looks it up at each call.
  const clock = shownClock === globalThis.Date ? systemClock : shownClock
  const { faults, inFrontOf } = portFaults()
  const requests: RecordedRequest[] = []

  async function createGeneration(givenToken: string | undefined): Promise<Generation> {
    const { plan = 'free', plans, pets = [], defaultStatus = 'available' } = options
    const { storage, keyStore: issuer, quota } = memory({ clock, plans: Object.keys(resolvePlans(plans)) })
    const issued = await issuer.issue({ plan, limits: plans?.[plan] })
    const token = givenToken ?? issued.token
    const find: ManagedKeyStore['find'] = (sent, context) => issuer.find(sent === token ? issued.token : sent, context)
    const ports = { storage, keyStore: { ...issuer, find }, quota }
    for (const { name, categoryId = 1n, status = defaultStatus ?? undefined } of pets)
      await storage.create({ name, categoryId, status })
    // From now on the token is hashed already, so no request waits for another thread: fake timers need that.
    await issuer.find(issued.token)
    // Options may be inherited. Members that are undefined hide those that `createPetStore` does not know.
    const hidden = { pets: undefined, plan: undefined, token: undefined }
    const inherited = Object.create(options) as PetStoreOptions
    const petStore = createPetStore(Object.assign(inherited, options, hidden, { clock, ...inFrontOf(ports) }))
    return { ...ports, petStore, token }
  }

  let current = await createGeneration(options.token)
  const { token } = current
  const { basePath } = current.petStore
  const handle = recordRequests((request) => current.petStore.handle(request), clock, requests)
  const fetch = fetchLike({ handle }) as TestPetStore['fetch']

  return {
    petStore: { fetch: fetchThrough(handle), handle, basePath },
    fetch,
    handle,
    basePath,
    request: requestFunction(basePath, options.publicUrl, token, fetch),
    client: createPetStoreClient({
      baseUrl: `http://localhost${basePath}`,
      apiKey: token,
      fetch,
      retry: isManual(clock) ? { sleep: async (milliseconds) => clock.advance(milliseconds), clock } : { clock },
    }),
    token,
    clock: shownClock as TheClock,
    storage: {
      list: (query, context) => current.storage.list(query, context),
      create: (pet, context) => current.storage.create(pet, context),
      get: (id, context) => current.storage.get(id, context),
    },
    keyStore: {
      find: (sent, context) => current.keyStore.find(sent, context),
      issue: (issueOptions) => current.keyStore.issue(issueOptions),
      revoke: (id) => current.keyStore.revoke(id),
      list: () => current.keyStore.list(),
    },
    quota: { spend: (request) => current.quota.spend(request) },
    faults,
    requests,
    async reset() {
      for (const port of PORTS) faults[port].recover()
      if (start !== undefined) ownClock?.set(start)
      current = await createGeneration(token)
      requests.length = 0
    },
  }
}

function isManual(clock: Clock): clock is ManualClock {
  return 'advance' in clock && typeof clock.advance === 'function'
}

/** Returns the function `request` of a test store. */
function requestFunction(
  basePath: string,
  publicUrl: string | undefined,
  token: string,
  fetch: typeof globalThis.fetch,
): TestPetStore['request'] {
  const address = linkBaseOf(basePath, publicUrl)({ path: basePath, route: '', query: '' })
  return (asked, init = {}) => {
    if (typeof asked !== 'string' || /^(?!https?:)\w/.test(asked))
      throw invalidOption('path', 'a path such as "/pets"', asked)
    const path = isBelow(pathOf(asked), address) ? basePath + asked.slice(address.length) : asked
    const target = isBelow(pathOf(path), basePath) ? path : basePath + path
    const request = new Request(/^https?:/.test(path) ? path : `http://localhost${target}`, init)
    const { headers } = request
    if (!headers.has('authorization')) headers.set('authorization', `Bearer ${token}`)
    // A form or a file has a type of its own. The type that `Request` sets for text is not the caller's choice.
    const chosen = typeof init.body === 'string' ? new Headers(init.headers) : headers
    if (init.body != null && !chosen.has('content-type')) headers.set('content-type', 'application/json')
    return fetch(request)
  }
}

/** Checks the options, so that an error lists those of the test store. */
function checkTestOptions<TheClock extends Clock>(options: TestPetStoreOptions<TheClock>): void {
  checkOptions(testRules, options, PORTS)
  const given: PetStoreOptions = options
  const own = PORTS.find((name) => given[name] !== undefined)
  if (own) throw invalidOption(own, 'none, because a test store has its own', given[own])
  const { plan = 'free', pets = [], plans } = options
  const known = resolvePlans(plans)
  if (!Object.hasOwn(known, plan))
    throw invalidOption('plan', `one of the plans ${Object.keys(known).join(', ')}; the option plans adds others`, plan)
  for (const [index, pet] of pets.entries())
    if (!isSeedPet(pet))
      throw invalidOption(`pets[${index}]`, '{ name, categoryId, status } with a bigint categoryId', pet)
}

function isSeedPet(value: unknown): boolean {
  if (!isObject(value)) return false
  const { name, categoryId, status } = value
  return (
    typeof name === 'string' &&
    (categoryId === undefined || (typeof categoryId === 'bigint' && isInt64(categoryId))) &&
    (status === undefined || petStatuses.some((known) => known === status))
  )
}
