import { isBelow, pathOf } from '../http/request-target.ts'
import { memory } from '../memory/index.ts'
import type { PetStoreOptions } from '../options.ts'
import { createPetStore, type PetStore } from '../pet-store.ts'
import { linkBaseOf } from '../pets/pagination.ts'
import type { ManagedKeyStore, PetStorage, QuotaStore } from '../ports.ts'
import { invalidOption, isObject } from '../support/option-rules.ts'
import { type ManualClock, manualClock } from './clock.ts'

/** A pet store for one test, with its parts. */
export interface TestPetStore extends PetStore {
  /** The token of a key on the plan `free`. */
  readonly token: string
  /** The clock of the store. It stands still until the test moves it. */
  readonly clock: ManualClock
  /** The animals, to add and read without a request. */
  readonly storage: PetStorage
  /** The keys, to issue and revoke more. */
  readonly keyStore: ManagedKeyStore
  /** The counts, to spend without a request. */
  readonly quota: QuotaStore
  /**
   * Sends a request with the key: `request('/pets?limit=2')`, `request('/pets', { method: 'POST', body })`. A path without the
   * base path gets it, and the target of a `Link` works as it is.
   */
  readonly request: (path: string, init?: RequestInit) => Promise<Response>
}

/** The options of {@link createTestPetStore}: those of `createPetStore` without the ports. */
export type TestPetStoreOptions = Omit<PetStoreOptions, 'storage' | 'keyStore' | 'quota' | 'clock'> & {
  /** The clock. @default a {@link manualClock} */
  readonly clock?: ManualClock | undefined
}

const OWN = ['storage', 'keyStore', 'quota'] as const

/**
 * Creates a pet store in memory with one key, on a clock that stands still.
 *
 * @throws {PetStoreError} `invalid_option`, as `createPetStore` does, and for a port, since the test store has its own
 * @example
 * ```ts
 * import { createTestPetStore } from 'petstore-kit/testing'
 *
 * const { request } = await createTestPetStore()
 * const response = await request('/pets', { method: 'POST', body: '{"name":"Rex","categoryId":1}' })
 * console.log(response.status) // 201
 * ```
 */
export async function createTestPetStore(options: TestPetStoreOptions = {}): Promise<TestPetStore> {
  if (!isObject(options)) throw invalidOption('options', 'a plain object', options)
  const { clock = manualClock() } = options
  const given: PetStoreOptions = options
  const own = OWN.find((name) => given[name] !== undefined)
  if (own) throw invalidOption(own, 'none, because a test store has its own', given[own])
  const backEnd = memory({ clock })
  const { token } = await backEnd.keyStore.issue({ plan: 'free' })
  const petStore = createPetStore(Object.assign(Object.create(options) as PetStoreOptions, backEnd, { clock }))
  const { basePath } = petStore
  const address = linkBaseOf(basePath, options.publicUrl)({ path: basePath, route: '', query: '' })
  const request = (asked: string, init: RequestInit = {}) => {
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
    return petStore.fetch(request)
  }
  return { ...petStore, ...backEnd, token, clock, request }
}
