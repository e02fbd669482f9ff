import { errorReply } from '../../src/door.ts'
import { type PetStore, toResponse } from '../../src/index.ts'
import { addressReader, type TrustProxy } from '../node/client-address.ts'
import { ServedRequest } from './served-request.ts'

/** The options of the doors on runtimes that speak the Fetch standard. */
export interface FetchHandlerOptions {
  /** Whose word on the client's address is taken: nobody's, that of so many proxies, or of these. @default false */
  readonly trustProxy?: TrustProxy | undefined
}

/** Answers a Request of a client whose connection came from what `peer` tells. It never rejects. */
export type FetchAnswerer = (request: Request, peer: () => string | undefined) => Promise<Response>

/** What the doors on Bun and Deno share. */
export function fetchAnswerer(petStore: PetStore, { trustProxy = false }: FetchHandlerOptions): FetchAnswerer {
  const readAddress = addressReader(trustProxy)
  const forwardedFor = (request: Request) =>
    trustProxy === false ? undefined : (request.headers.get('x-forwarded-for') ?? undefined)
  return async (request, peer) => {
    try {
      const address = () => readAddress(peer(), forwardedFor(request))
      return toResponse(await petStore.handle(new ServedRequest(request, address)))
    } catch {
      return toResponse(errorReply('internal_error'))
    }
  }
}
