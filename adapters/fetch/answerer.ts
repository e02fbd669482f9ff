import { errorReply, FetchRequest } from '../../src/door.ts'
import { type ApiRequest, type PetStore, toResponse } from '../../src/index.ts'
import { readerOf, type TrustProxy } from '../node/client-address.ts'

/** The options of the doors on runtimes that speak the Fetch standard. */
export interface FetchHandlerOptions {
  /** Whose word on the client's address is taken: nobody's, that of so many proxies, or of these. @default false */
  readonly trustProxy?: TrustProxy | undefined
}

/** Answers a Request of a client whose connection came from what `peer` tells. It never rejects. */
export type FetchAnswerer = (request: Request, peer: Ask) => Promise<Response>

/** Finds out a text, or that there is none. */
type Ask = () => string | undefined

/** Reads a Request as plain values, with the client's address, and that of the connection. */
export type ToRequest = (request: Request, address: Ask, peer: Ask) => ApiRequest

const plain: ToRequest = (request, address) => new FetchRequest(request, address)

/** What the doors on Bun and Deno share. */
export function fetchAnswerer(
  petStore: PetStore,
  options: FetchHandlerOptions,
  toRequest: ToRequest = plain,
): FetchAnswerer {
  const readAddress = readerOf(options)
  const { trustProxy = false } = options
  const forwardedFor = (request: Request) =>
    trustProxy === false ? undefined : (request.headers.get('x-forwarded-for') ?? undefined)
  return async (request, peer) => {
    try {
      const address = () => readAddress(peer(), forwardedFor(request))
      return toResponse(await petStore.handle(toRequest(request, address, peer)))
    } catch {
      return toResponse(errorReply('internal_error'))
    }
  }
}
