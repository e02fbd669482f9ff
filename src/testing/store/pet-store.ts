import * as z from 'zod/mini'
import { createClient, type PetStoreClient } from '../../client/client.ts'
import { buildRequest, fetchThrough, type PetStoreFetch } from '../../http/fetch.ts'
import { type ApiRequest, isBelow, linkBaseOf, pathOf } from '../../http/request.ts'
import { isToken68 } from '../../keys/authenticate.ts'
import { newToken } from '../../keys/token.ts'
import { memory } from '../../memory.ts'
import type { NewPet } from '../../model.ts'
import { type PetStoreOptions, resolvePlans, storeShape } from '../../options.ts'
import { createPetStore, type PetStore } from '../../pet-store.ts'
import type { BackEnd, Clock, ManagedKeyStore, PetStorage, QuotaStore } from '../../ports.ts'
import { expecting, type Shape } from '../../schemas/expected.ts'
import { int64 } from '../../schemas/int64.ts'
import { plan } from '../../schemas/key.ts'
import { invalidOption, listOf, optionsOf, textThat } from '../../schemas/options.ts'
import { parseOptions } from '../../schemas/parse-options.ts'
import { DEFAULT_STATUS, petStatus } from '../../schemas/pet.ts'
import { systemClock } from '../../support/time.ts'
import { type ManualClock, manualClock } from './clock.ts'
import { type FaultList, type PortFaults, portFaults } from './faults.ts'
import { fetchLike } from './restartable.ts'
import { type RecordedRequest, recordRequests } from './journal.ts'

/** A pet store for one test, with its parts. Its functions need no `this`. */
export interface TestPetStore<TheClock extends Clock = ManualClock> extends PetStore {
  /**
   * The pet store to mount in a server. `fetch` and `handle` reject while `faults.connection`
   * breaks connections.
   */
  readonly petStore: PetStore
  /**
   * Sends a request to this store, whatever host the URL has, and adds no API key. Like the global
   * `fetch`, it rejects if its signal aborts or a fault breaks the connection, and sets
   * `response.url`.
   */
  readonly fetch: typeof globalThis.fetch & PetStoreFetch
  /**
   * Sends a request with the API key: `request('/pets?limit=2')`,
   * `request('/pets', { method: 'POST', body })`. Adds the base path, unless the path has it
   * already, as in a `Link` header.
   */
  readonly request: (path: string, init?: RequestInit) => Promise<Response>
  /**
   * A client with the API key. If the clock is a {@link ManualClock}, the client advances the clock
   * instead of waiting.
   */
  readonly client: PetStoreClient
  /** The token of the API key. */
  readonly token: string
  /**
   * The clock of the store. By default, it starts at the system time and stands still until the
   * test moves it.
   */
  readonly clock: TheClock
  /** The storage. Use it to add and read animals without a request. */
  readonly storage: PetStorage
  /** The key store. Use it to issue, change and revoke keys. */
  readonly keyStore: ManagedKeyStore
  /** The quota store. Use it to count requests without sending them. */
  readonly quota: QuotaStore
  /** Makes storage, key store and quota store fail or wait, and breaks connections. */
  readonly faults: PortFaults
  /** The last 1,000 requests with their responses, the oldest first. */
  readonly requests: readonly RecordedRequest[]
  /**
   * Restores the initial state: the animals of the option `pets`, the same key and token, no
   * counts, no faults, no recorded requests. The default clock returns to its start, but a clock
   * that you passed is not changed.
   */
  readonly reset: () => Promise<void>
}

/** An animal that the store has from the start. */
export interface SeedPet extends Omit<NewPet, 'categoryId'> {
  /** The id of the category, an int64. @default 1n */
  readonly categoryId?: bigint | undefined
}

/**
 * The options of {@link createTestPetStore}: those of `createPetStore` without the ports, and the
 * initial animals and key.
 */
export interface TestPetStoreOptions<TheClock extends Clock = ManualClock>
  extends Omit<PetStoreOptions, 'storage' | 'keyStore' | 'quota' | 'clock'> {
  /**
   * The animals that the store has from the start; their ids are 1, 2, 3 and so on.
   * @default none
   */
  readonly pets?: readonly SeedPet[] | undefined
  /** The plan of the API key. @default 'free' */
  readonly plan?: string | undefined
  /** The token of the API key. @default a new token */
  readonly token?: string | undefined
  /**
   * The clock: a {@link ManualClock}, or any object with `now`. With `Date`, the store follows the
   * fake timers of vitest, Jest and node:test, even if they start later.
   * @default a {@link ManualClock} that starts at the system time and stands still
   */
  readonly clock?: TheClock | undefined
}

const seedPet = z.object(
  {
    name: z.string(expecting('a string')),
    categoryId: z._default(int64(), 1n),
    status: z.optional(petStatus()),
  } satisfies Shape<NewPet>,
  expecting('{ name, categoryId, status } with a bigint categoryId'),
)

const { storage: _storage, keyStore: _keyStore, quota: _quota, ...shared } = storeShape
const noPort = z.optional(z.undefined(expecting('none, because a test store has its own')))
interface ParsedOptions extends Omit<TestPetStoreOptions<Clock>, 'pets'> {
  readonly pets?: readonly NewPet[] | undefined
}
const testOptions = optionsOf<ParsedOptions>(
  {
    pets: z.optional(listOf<NewPet>(seedPet, 'an array of { name, categoryId, status }')),
    plan: z.optional(plan),
    token: z.optional(textThat(isToken68, 'a string of letters, digits and -._~+/')),
    ...shared,
  },
  { others: { storage: noPort, keyStore: noPort, quota: noPort } },
)

/**
 * Creates a pet store in memory with one API key. Its clock starts at the system time and stands
 * still.
 * @throws {PetStoreError} `invalid_option` for an invalid option, also for a port, because the test
 * store has its own ports
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
  const given = parseOptions(testOptions, options)
  const { pets = [], plan = 'free', token = newToken(), clock: givenClock, ...storeOptions } = given
  const { plans, defaultStatus = DEFAULT_STATUS } = storeOptions
  requireKnownPlan(plan, plans)
  const ownClock = manualClock(systemClock.now())
  const start = ownClock.now()
  const shownClock: Clock = givenClock ?? ownClock
  // In place of `Date`, use `systemClock`, which reads the global `Date` at each call: fake timers
  // may replace it later.
  const clock: Clock & Partial<ManualClock> = shownClock === globalThis.Date ? systemClock : shownClock

  /** Creates the ports, the pet store, the key and the client: once, and again for each `reset`. */
  async function createGeneration(withFaults: (ports: BackEnd) => BackEnd, fetch: typeof globalThis.fetch) {
    const { storage, keyStore: issuer, quota } = memory({ clock, plans: Object.keys(resolvePlans(plans)) })
    const issued = await issuer.issue({ plan, limits: plans?.[plan] })
    const find: ManagedKeyStore['find'] = (sent, context) => issuer.find(sent === token ? issued.token : sent, context)
    const ports = { storage, keyStore: { ...issuer, find }, quota }
    for (const pet of pets) await storage.create({ ...pet, status: pet.status ?? defaultStatus ?? undefined })
    const petStore = createPetStore({ ...storeOptions, clock, ...withFaults(ports) })
    const baseUrl = `http://localhost${petStore.basePath}`
    // With a manual clock, the client advances the clock instead of waiting. No wait is random, so
    // that a test can expect its end.
    const wait = clock.advance && {
      sleep: async (milliseconds: number) => clock.advance?.(milliseconds),
      random: (asked: number) => (asked > 0 ? 0 : 1),
    }
    return { ...ports, petStore, client: createClient({ baseUrl, apiKey: token, fetch }, { clock, ...wait }) }
  }

  const { petStore, fetch, faults, requests, current, restart } = await createRestartable(clock, createGeneration)
  const { handle, basePath } = petStore
  const linkBase = linkBaseOf(basePath, storeOptions.publicUrl)({ path: basePath, route: '', query: '' })
  const request: TestPetStore['request'] = async (asked, init = {}) => {
    if (typeof asked !== 'string' || /^(?!https?:)\w/.test(asked))
      throw invalidOption('path', 'a path such as "/pets"', asked)
    const path = isBelow(pathOf(asked), linkBase) ? basePath + asked.slice(linkBase.length) : asked
    const target = isBelow(pathOf(path), basePath) ? path : basePath + path
    const url = /^https?:/.test(path) ? path : `http://localhost${target}`
    const { request: sent, signal } = buildRequest(url, init)
    const { headers } = sent
    if (!headers.has('authorization')) headers.set('authorization', `Bearer ${token}`)
    // `Request` sets the type of a form or file. For a string it sets `text/plain`, which is
    // replaced unless the caller chose it.
    const chosen = typeof init.body === 'string' ? new Headers(init.headers) : headers
    if (init.body != null && !chosen.has('content-type')) headers.set('content-type', 'application/json')
    return fetch(sent, { signal: signal ?? null })
  }

  return {
    petStore,
    fetch,
    handle,
    basePath,
    request,
    client: {
      ...forwarding(() => current().client),
      get rateLimit() {
        return current().client.rateLimit
      },
    },
    token,
    clock: shownClock as TheClock,
    storage: forwarding(() => current().storage),
    keyStore: forwarding(() => current().keyStore),
    quota: forwarding(() => current().quota),
    faults,
    requests,
    async reset() {
      ownClock.set(start)
      await restart()
    },
  }
}

/** The parts of a store from one reset to the next. */
interface Generation<Parts> {
  readonly number: number
  readonly faultList: FaultList
  readonly parts: Parts
}

/**
 * Creates a store with faults and a journal. `restart` calls `createParts` again, and removes all
 * faults and requests.
 */
export async function createRestartable<Parts extends { readonly petStore: PetStore }>(
  clock: Clock,
  createParts: (withFaults: (ports: BackEnd) => BackEnd, fetch: typeof globalThis.fetch) => Promise<Parts>,
) {
  const { withFaults, breakConnection, startList, ...faults } = portFaults()
  const requests: RecordedRequest[] = []
  const respond = recordRequests((request) => generation.parts.petStore.handle(request), clock, requests)
  const handle = async (request: ApiRequest) => {
    const { faultList, parts } = generation
    return breakConnection(faultList, request, await respond(request), parts.petStore.basePath)
  }
  const reportError: PetStore['reportError'] = (...report) => generation.parts.petStore.reportError?.(...report)
  const fetch = fetchLike({ handle }) as TestPetStore['fetch']
  let started = 0
  let generation = await startGeneration()

  async function startGeneration(): Promise<Generation<Parts>> {
    started += 1
    const number = started
    // Before the first `await`: a fault that is set while a reset is pending belongs to the time
    // after the reset.
    const faultList = startList()
    return { number, faultList, parts: await createParts((ports) => withFaults(faultList, ports), fetch) }
  }

  // Both are the same after each restart: `errorResponse` depends only on the options and the
  // clock.
  const { basePath, errorResponse } = generation.parts.petStore
  return {
    fetch,
    petStore: { fetch: fetchThrough(handle), handle, basePath, reportError, errorResponse },
    ...faults,
    requests,
    current: () => generation.parts,
    async restart() {
      const next = await startGeneration()
      // A later reset may have been faster.
      if (next.number < generation.number) return
      generation = next
      requests.length = 0
    },
  }
}

/**
 * Returns an object whose functions call `current()` each time, because `reset` replaces the result
 * of `current()`.
 */
function forwarding<T extends object>(current: () => T): T {
  const methods = () => current() as Record<string, (...parameters: unknown[]) => unknown>
  const names = Object.keys(current())
  return Object.fromEntries(
    names.map((name) => [name, (...parameters: unknown[]) => methods()[name]?.(...parameters)]),
  ) as T
}

function requireKnownPlan(plan: string, plans: PetStoreOptions['plans']): void {
  const known = resolvePlans(plans)
  if (!Object.hasOwn(known, plan))
    throw invalidOption('plan', `one of the plans ${Object.keys(known).join(', ')}; add others in option plans`, plan)
}
