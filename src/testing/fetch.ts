import { toApiRequest } from '../http/request.ts'
import { type ApiResponse, toResponse } from '../http/response.ts'
import type { PetStore } from '../pet-store.ts'
import { untilAborted } from '../support/time.ts'

/** Returns a function that behaves like the global `fetch`, but sends every request to a pet store. */
export function fetchLike({ handle }: Pick<PetStore, 'handle'>): typeof globalThis.fetch {
  return async (input, init) => {
    const request = input instanceof Request && init === undefined ? input : new Request(input, init)
    const handled = await untilAborted<ApiResponse>(request.signal, (resolve, reject) => {
      handle(toApiRequest(request)).then(resolve, (cause) => reject(new TypeError('fetch failed', { cause })))
      return undefined
    })
    // The global `fetch` sets `url` without the fragment; `new Response` leaves it empty.
    return Object.defineProperty(toResponse(handled), 'url', { value: request.url.split('#', 1)[0] })
  }
}
