import { createClient, type PetStoreClient } from '../../client/client.ts'
import { buildRequest, type PetStoreFetch } from '../../http/fetch.ts'
import { isBelow, linkBaseOf, pathOf } from '../../http/request.ts'
import type { Keys } from '../../keys/host-keys.ts'
import { newKeyWithoutToken } from '../../keys/new-key.ts'
import { newKeyIds, newToken } from '../../keys/token.ts'
import { memoryKeyStore } from '../../memory/keys.ts'
import { memoryQuota } from '../../memory/quota.ts'
import { memoryStorage } from '../../memory/storage.ts'
import { type CompletePetStore, createPetStore, type PetStore } from '../../pet-store.ts'
import type { Pets } from '../../pets/host-pets.ts'
import type { BackEnd, Clock, QuotaStore } from '../../ports.ts'
import { invalidOption } from '../../schemas/options.ts'
import { systemClock } from '../../support/time.ts'
import { type ManualClock, manualClock } from './clock.ts'
import type { PortFaults } from './faults.ts'
import type { RequestJournal } from './journal.ts'
import { parseTestOptions, type TestPetStoreOptions } from './options.ts'
import { createRestartable, forwarding } from './restartable.ts'

/** A pet store for one test, with its parts. Its functions need no `this`. */
export interface TestPetStore<TheClock extends Clock = ManualClock> extends PetStore {
  /**
   * The pet store to mount in a server. `fetch` and `handle` reject while `faults.connection`
   * breaks connections.
   */
  readonly petStore: PetStore & Pick<CompletePetStore, 'admit' | 'pets' | 'keys' | 'ready'>
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
  /** Adds, reads, changes and removes animals without a request. Faults do not affect it. */
  readonly pets: Pets
  /** Issues, changes and ends keys, and reads their usage, without a request. Faults do not affect it. */
  readonly keys: Keys
  /** The quota store. Use it to count requests without sending them. */
  readonly quota: QuotaStore
  /** Makes storage, key store and quota store fail or wait, and delays responses or breaks connections. */
  readonly faults: PortFaults
  /** The last 1,000 requests with their responses, the oldest first. */
  readonly requests: RequestJournal
  /**
   * Restores the initial state: the animals of the option `pets`, the same key and token, no
   * counts, no faults, no recorded requests. The default clock returns to its start, but a clock
   * that you passed is not changed.
   */
  readonly reset: () => Promise<void>
}

/**
 * Creates a pet store in memory with one API key. Its clock starts at the system time and stands
 * still.
 * @throws {PetStoreError} `invalid_option` for an invalid option, also for `storage`, `keyStore`
 * and `quota`, because the test store has its own
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
  const { pets, plan, token = newToken(), clock: givenClock, ...storeOptions } = parseTestOptions(options)
  const ownClock = manualClock(systemClock.now())
  const start = ownClock.now()
  const shownClock: Clock = givenClock ?? ownClock
  // Instead of `Date`, use `systemClock`, which reads the global `Date` at each call: fake timers
  // may replace it later.
  const clock: Clock & Partial<ManualClock> = shownClock === globalThis.Date ? systemClock : shownClock

  /**
   * Creates the back end, the pet store, the key and the client: once, and again for each `reset`.
   */
  async function createGeneration(withFaults: (backEnd: BackEnd) => BackEnd, fetch: typeof globalThis.fetch) {
    const key = newKeyWithoutToken({ plan }, clock.now(), newKeyIds())
    const backEnd = {
      storage: memoryStorage(clock, pets),
      keyStore: memoryKeyStore(clock, [{ token, key }]),
      quota: memoryQuota(),
    }
    const petStore = createPetStore({ ...storeOptions, clock, ...withFaults(backEnd) })
    const host = createPetStore({ ...storeOptions, clock, ...backEnd })
    const baseUrl = `http://localhost${petStore.basePath}`
    // With a manual clock, the client advances the clock instead of waiting. No wait is random, so
    // that a test can expect its end.
    const wait = clock.advance && {
      sleep: async (milliseconds: number) => clock.advance?.(milliseconds),
      random: (asked: number) => (asked > 0 ? 0 : 1),
    }
    return {
      quota: backEnd.quota,
      petStore,
      pets: host.pets,
      keys: host.keys,
      client: createClient({ baseUrl, apiKey: token, fetch }, { clock, ...wait }),
    }
  }

  const { petStore, fetch, faults, journal, current, restart } = await createRestartable(clock, createGeneration)
  const { basePath } = petStore
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

  const host = { pets: forwarding(() => current().pets), keys: forwarding(() => current().keys) }
  return {
    // The test store may be mounted and documented too, so it has the symbols of a store.
    ...petStore,
    petStore: {
      ...petStore,
      ...host,
      admit: (...parameters) => current().petStore.admit(...parameters),
      ready: () => current().petStore.ready(),
    },
    fetch,
    request,
    client: {
      ...forwarding(() => current().client),
      get rateLimit() {
        return current().client.rateLimit
      },
    },
    token,
    clock: shownClock as TheClock,
    ...host,
    quota: forwarding(() => current().quota),
    faults,
    requests: journal.requests,
    async reset() {
      ownClock.set(start)
      await restart()
    },
  }
}
