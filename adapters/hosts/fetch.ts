import type { PetStore } from '../../src/index.ts'
import { invalidOption } from '../../src/schemas/options.ts'
import { fetchResponder } from './shared/fetch-responder.ts'
import type { HandlerOptions } from './shared/mounted-store.ts'

export type { TrustProxy } from './shared/client-address.ts'
export type { HandlerOptions } from './shared/mounted-store.ts'

/** A function that takes a `Request` and the address of its connection. It never rejects. */
export type FetchHandler = (request: Request, address?: string | null) => Promise<Response>

/**
 * Creates a handler for any host that passes a `Request` and accepts a `Response`, such as Hono,
 * h3, Next.js or SvelteKit.
 *
 * Pass the address of the connection, if the host knows it. Without an address, `trustProxy` must
 * be a number: a list of proxies cannot contain an unknown address.
 *
 * @throws {PetStoreError} `invalid_option` if the store or `trustProxy` is invalid
 * @example
 * ```ts
 * import { createPetStore } from 'petstore-kit'
 * import { toFetchHandler } from 'petstore-kit/fetch'
 *
 * const handler = toFetchHandler(createPetStore(), { trustProxy: 1 })
 * const headers = { 'x-forwarded-for': '203.0.113.7' }
 * const response = await handler(new Request('http://localhost/v1/pets', { headers }), '10.0.0.1')
 * console.log(response.status) // 401
 * ```
 */
export function toFetchHandler(petStore: PetStore, options: HandlerOptions = {}): FetchHandler {
  const respond = fetchResponder(petStore, options)
  return (request, address) => respond(request, () => checkedAddress(address ?? undefined))
}

function checkedAddress(address: unknown): string | undefined {
  if (address === undefined || typeof address === 'string') return address
  throw invalidOption('address', "the client's IP address as the second argument of the handler, or nothing", address)
}
