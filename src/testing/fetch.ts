import { toApiRequest } from '../http/request.ts'
import { toResponse } from '../http/response.ts'
import type { PetStore } from '../pet-store.ts'

/** Returns a function that behaves like the global `fetch`, but sends every request to a pet store. */
export function fetchLike({ handle }: Pick<PetStore, 'handle'>): typeof globalThis.fetch {
  return async (input, init) => {
    const request = input instanceof Request && init === undefined ? input : new Request(input, init)
    request.signal.throwIfAborted()
    const handled = handle(toApiRequest(request)).catch((cause) => {
      throw new TypeError('fetch failed', { cause })
    })
    const response = toResponse(await untilAborted(handled, request.signal))
    // The global `fetch` sets `url` without the fragment; `new Response` leaves it empty.
    return Object.defineProperty(response, 'url', { value: request.url.replace(/#.*$/, '') })
  }
}

/** Returns the result of a promise. Rejects with the signal's reason as soon as the signal aborts. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
