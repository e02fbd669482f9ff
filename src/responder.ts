import type { ApiRequest, ApiResponse } from './exchange.ts'
import type { MaybePromise } from './ports.ts'

/** Answers a request: at once where nothing has to be waited for. */
export type Responder = (request: ApiRequest) => MaybePromise<ApiResponse>

type Handle = (request: ApiRequest) => Promise<ApiResponse>

const responders = new WeakMap<Handle, Responder>()

/** Makes the `handle` of a store, which always gives a promise. */
export function handleOf(respond: Responder): Handle {
  const handle: Handle = (request) => Promise.resolve(respond(request))
  responders.set(handle, respond)
  return handle
}

/** How a door asks a store: with no promise where none is needed. A host's own wrapper has a `handle` of its own. */
export function ask(store: { readonly handle: Handle }, request: ApiRequest): MaybePromise<ApiResponse> {
  const respond = responders.get(store.handle)
  return respond === undefined ? store.handle(request) : respond(request)
}
