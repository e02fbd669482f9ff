import { FetchRequest } from '../../src/http/fetch.ts'
import type { PetStore } from '../../src/index.ts'
import { invalidOption } from '../../src/schemas/options.ts'
import { fetchResponder } from './shared/fetch-responder.ts'
import type { HandlerOptions } from './shared/mounted-store.ts'

export type { TrustProxy } from './shared/client-address.ts'
export type { HandlerOptions } from './shared/mounted-store.ts'

/**
 * The part of Bun's server that this adapter uses. `requestIP` returns `null` for a Unix socket.
 */
export interface BunServer {
  requestIP(request: Request): { readonly address: string } | null
}

/**
 * A function for the `fetch` option of `Bun.serve`, or for one of its `routes`. It never rejects.
 */
export type BunHandler = (request: Request, server: BunServer | null) => Promise<Response>

/**
 * Creates a handler for `Bun.serve` that passes each client's address to the store.
 *
 * If you do not need the address, pass `petStore.fetch` to `Bun.serve` instead.
 *
 * @throws {PetStoreError} `invalid_option` if the store or `trustProxy` is invalid
 * @example
 * ```ts
 * import { createPetStore } from 'petstore-kit'
 * import { toBunHandler } from 'petstore-kit/bun'
 *
 * Bun.serve({ port: 3000, fetch: toBunHandler(createPetStore()) })
 * ```
 */
export function toBunHandler(petStore: PetStore, options: HandlerOptions = {}): BunHandler {
  const respond = fetchResponder(petStore, options, BunRequest)
  return (request, server) => respond(request, () => peerAddress(request, server))
}

/** Elysia's `app.handle` passes no server; then the address is unknown. */
function peerAddress(request: Request, server: BunServer | null | undefined): string | undefined {
  try {
    return server?.requestIP(request)?.address
  } catch {
    // Bun's `requestIP` throws if a router passes another object, such as a `Proxy`, instead of
    // Bun's Request.
    if (typeof server?.requestIP === 'function') return undefined
    throw invalidOption('server', 'the server that Bun.serve passes as the second argument', server)
  }
}

class BunRequest extends FetchRequest {
  /** No signal is needed: Bun ends the read if the client disconnects. */
  protected override wholeBody(): Promise<ArrayBuffer> {
    return this.request.arrayBuffer()
  }
}
