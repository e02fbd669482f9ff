import { errorReply, FetchRequest } from '../../src/door.ts'
import { type ApiRequest, type ApiResponse, type PetStore, toResponse } from '../../src/index.ts'
import { readerOf, type TrustProxy } from '../node/client-address.ts'

/** The options of the doors on runtimes that speak the Fetch standard. */
export interface FetchHandlerOptions {
  /** Whose word on the client's address is taken: nobody's, that of so many proxies, or of these. @default false */
  readonly trustProxy?: TrustProxy | undefined
}

/** Answers a Request of a client whose connection came from what `peer` tells. It never throws or rejects. */
export type FetchAnswerer = (request: Request, peer: Ask) => Response | Promise<Response>

/** Finds out a text, or that there is none. */
type Ask = () => string | undefined

/** Reads a Request as plain values, with the client's address, and that of the connection. */
export type ToRequest = (request: Request, address: Ask, peer: Ask) => ApiRequest

/** Tells what a promise is fulfilled with, where the runtime can without waiting; `undefined` elsewhere. */
export type Peek = (promise: Promise<ApiResponse>) => ApiResponse | undefined

const plain: ToRequest = (request, address) => new FetchRequest(request, address)

/** What the doors on Bun and Deno share. */
export function fetchAnswerer(
  petStore: PetStore,
  options: FetchHandlerOptions,
  toRequest: ToRequest = plain,
  peek: Peek = () => undefined,
): FetchAnswerer {
  const readAddress = readerOf(options)
  const { trustProxy = false } = options
  const forwardedFor = (request: Request) =>
    trustProxy === false ? undefined : (request.headers.get('x-forwarded-for') ?? undefined)
  return (request, peer) => {
    try {
      const address = () => readAddress(peer(), forwardedFor(request))
      const answer = petStore.handle(toRequest(request, address, peer))
      const known = peek(answer)
      return known === undefined ? later(answer) : toResponse(known)
    } catch {
      return toResponse(errorReply('internal_error'))
    }
  }
}

async function later(answer: Promise<ApiResponse>): Promise<Response> {
  try {
    return toResponse(await answer)
  } catch {
    return toResponse(errorReply('internal_error'))
  }
}
