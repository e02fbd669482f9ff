import { buildRequest, FetchRequest } from '../../http/fetch.ts'
import { type ApiResponse, toResponse } from '../../http/response.ts'
import type { PetStore } from '../../pet-store.ts'
import { untilAborted } from '../../support/time.ts'

/**
 * Returns a function that behaves like the global `fetch`, but sends every request to a pet store.
 * As in a browser, a relative address belongs to the page, if there is one.
 */
export function fetchLike({ handle }: Pick<PetStore, 'handle'>): typeof globalThis.fetch {
  return async (input, init) => {
    const { request, signal } = buildRequest(typeof input === 'string' ? resolve(input) : input, init)
    const handled = await untilAborted<ApiResponse>(signal, (resolve, reject) => {
      const sent = new FetchRequest(request, undefined, signal)
      handle(sent).then(resolve, (cause) => reject(new TypeError('fetch failed', { cause })))
      return undefined
    })
    // The global `fetch` sets `url` without the fragment; `new Response` leaves it empty.
    return Object.defineProperty(toResponse(handled), 'url', { value: request.url.split('#', 1)[0] })
  }
}

/**
 * Returns an address as a URL of the page, as jsdom and happy-dom have it. Without a page, or on
 * `about:blank`, returns it as it is.
 */
function resolve(address: string): string {
  try {
    return new URL(address, globalThis.location?.href).href
  } catch {
    return address
  }
}
