import { FetchInterceptor } from '@mswjs/interceptors/fetch'
import { isBrokenConnection, PetStoreError } from '../../errors.ts'
import type { PetStore } from '../../pet-store.ts'
import { invalidOption } from '../../schemas/options.ts'
import { isUrl } from '../../support/text.ts'

/** Sends the requests of the global `fetch` for one origin to a pet store, until `restore`. */
export interface Interception {
  /**
   * Lets the requests reach the network again. A second call does nothing.
   * @throws {PetStoreError} `invalid_option` if other code has replaced the global `fetch`
   * meanwhile
   */
  restore(): void
  /** Does the same as `restore`, at the end of a block with `using`. */
  [Symbol.dispose](): void
}

/**
 * The pet store of each origin. One interceptor serves them all: with two, `dispose` of one would
 * disable both.
 */
const petStores = new Map<string, Pick<PetStore, 'fetch'>>()
let interceptor: StoreInterceptor | undefined

/**
 * Makes the global `fetch` send requests for one origin to a pet store, for programs that accept no
 * `fetch` function. Requests to other origins reach the network. If a fault breaks the connection,
 * `fetch` rejects with a `TypeError`. Needs the package `@mswjs/interceptors`.
 * @param address - a scheme and a host, with a port if it is not the default one, such as
 * `https://api.example`
 * @throws {PetStoreError} `invalid_option` if `address` is not an origin, or is intercepted
 * already, or if MSW, nock or other code has replaced the global `fetch`
 * @example
 * ```ts
 * import { createTestPetStore } from 'petstore-kit/testing'
 * import { interceptFetch } from 'petstore-kit/testing/intercept'
 *
 * const { petStore, token } = await createTestPetStore()
 * const interception = interceptFetch('https://api.example', petStore)
 * const response = await fetch('https://api.example/v1/pets', { headers: { authorization: `Bearer ${token}` } })
 * interception.restore()
 * console.log(response.status) // 200
 * ```
 */
export function interceptFetch(address: string, petStore: Pick<PetStore, 'fetch'>): Interception {
  const origin = String(address).replace(/\/$/, '')
  if (!isUrl(origin) || new URL(origin).origin !== origin)
    throw invalidOption('origin', 'an origin such as "https://api.example", without a path', address)
  if (petStores.has(origin)) throw invalidOption('origin', 'an origin that is not intercepted already', origin)
  if (typeof petStore?.fetch !== 'function') throw invalidOption('petStore', 'a pet store with fetch', petStore)
  if (interceptor === undefined && Reflect.has(globalThis, FetchInterceptor.symbol))
    throw new PetStoreError('invalid_option', SHARED)
  if (interceptor !== undefined && globalThis.fetch !== interceptor.patchedFetch)
    throw new PetStoreError('invalid_option', REPLACED)
  petStores.set(origin, petStore)
  interceptor ??= startInterceptor()
  let isRestored = false
  const restore = () => {
    if (isRestored) return
    isRestored = true
    petStores.delete(origin)
    if (interceptor === undefined) return
    if (globalThis.fetch !== interceptor.patchedFetch) throw new PetStoreError('invalid_option', REPLACED)
    // If MSW or nock was started later, it shares this interceptor, and would stop working without
    // it.
    if (petStores.size > 0 || interceptor.isShared()) return
    // When MSW ends, it removes this entry, and without the entry, `dispose` does nothing.
    Reflect.set(globalThis, FetchInterceptor.symbol, interceptor)
    interceptor.dispose()
    interceptor = undefined
  }
  return { restore, [Symbol.dispose]: restore }
}

const SHARED =
  'interceptFetch: expected that no other library intercepts the global fetch, but MSW, nock or another one does. If it ends first, ' +
  'requests with the API key would reach the real server. Call interceptFetch before server.listen() and before nock is imported, or ' +
  'let the other library pass the requests on, as in the recipe for MSW.'

const REPLACED =
  'interceptFetch: expected the global fetch of this interception, but other code has replaced it, so requests with the API key could ' +
  'reach the real server. Restore fetch first, for example with vi.unstubAllGlobals(), or call interceptFetch after the replacement.'

class StoreInterceptor extends FetchInterceptor {
  /** The global `fetch` while the interceptor is in force. */
  patchedFetch: typeof globalThis.fetch | undefined

  /**
   * Returns whether another library uses this interceptor: it then listens to the same requests.
   */
  isShared(): boolean {
    return this.emitter.listenerCount('request') > 1
  }
}

function startInterceptor(): StoreInterceptor {
  const started = new StoreInterceptor()
  started.apply()
  started.patchedFetch = globalThis.fetch
  started.on('request', async ({ request, controller }) => {
    const petStore = petStores.get(new URL(request.url).origin)
    // Without `Response.error()`, the interceptor would respond 500 with the stack of the error.
    const toResponse = (error: unknown) => (isBrokenConnection(error) ? Response.error() : Promise.reject(error))
    if (petStore) controller.respondWith(await petStore.fetch(request).catch(toResponse))
  })
  return started
}
