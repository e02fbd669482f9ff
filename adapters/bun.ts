import type { PetStore } from '../src/index.ts'
import { type FetchHandlerOptions, fetchAnswerer, type ToRequest } from './fetch/answerer.ts'
import { ServedRequest } from './fetch/served-request.ts'

export type { TrustProxy } from './node/client-address.ts'

/** The options of {@link toBunHandler}. */
export type BunHandlerOptions = FetchHandlerOptions

/** What is needed of Bun's server: to tell the address of a connection; `null` for a Unix socket. */
export interface BunServer {
  requestIP(request: Request): { readonly address: string } | null
}

/** A `fetch` of `Bun.serve`, or a handler of one of its `routes`. It never throws or rejects. */
export type BunHandler = (request: Request, server: BunServer) => Promise<Response>

/** Bun knows the address of the Requests that it made itself, and of no other. */
const toRequest: ToRequest = (request, address, peer) => new ServedRequest(request, address, () => peer() !== undefined)

/**
 * Makes a handler for `Bun.serve` that knows each client's address.
 *
 * Without need of the address, `petStore.fetch` does as well.
 *
 * @throws {PetStoreError} `invalid_option` where `trustProxy` is wrong
 * @example
 * ```ts
 * import { createPetStore } from 'petstore-kit'
 * import { toBunHandler } from 'petstore-kit/bun'
 *
 * Bun.serve({ port: 3000, fetch: toBunHandler(createPetStore()) })
 * ```
 */
export function toBunHandler(petStore: PetStore, options: BunHandlerOptions = {}): BunHandler {
  const answer = fetchAnswerer(petStore, options, toRequest)
  return (request, server) => answer(request, () => server.requestIP(request)?.address)
}
