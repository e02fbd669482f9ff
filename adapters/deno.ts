import type { PetStore } from '../src/index.ts'
import { type FetchHandlerOptions, fetchAnswerer } from './fetch/answerer.ts'

export type { TrustProxy } from './node/client-address.ts'

/** The options of {@link toDenoHandler}. */
export type DenoHandlerOptions = FetchHandlerOptions

/** What is needed of the second argument of a Deno handler: the address of the connection, which a Unix socket lacks. */
export interface DenoServeInfo {
  readonly remoteAddr: object & { readonly hostname?: string }
}

/** A handler of `Deno.serve`. It never throws or rejects. */
export type DenoHandler = (request: Request, info: DenoServeInfo) => Promise<Response>

/**
 * Makes a handler for `Deno.serve` that knows each client's address.
 *
 * Without need of the address, `petStore.fetch` does as well.
 *
 * @throws {PetStoreError} `invalid_option` where `trustProxy` is wrong
 * @example
 * ```ts
 * import { createPetStore } from 'petstore-kit'
 * import { toDenoHandler } from 'petstore-kit/deno'
 *
 * Deno.serve({ port: 3000 }, toDenoHandler(createPetStore()))
 * ```
 */
export function toDenoHandler(petStore: PetStore, options: DenoHandlerOptions = {}): DenoHandler {
  const answer = fetchAnswerer(petStore, options)
  return (request, info) => answer(request, info.remoteAddr.hostname)
}
