import { errorResponse } from '../../../src/http/response.ts'
import { type ApiRequest, type ApiResponse, type PetStore, toResponse } from '../../../src/index.ts'
import { checkPetStore } from './check-pet-store.ts'
import { type AddressReader, readerOf, type TrustProxy } from './client-address.ts'

/** The options of the doors on runtimes that speak the Fetch standard. */
export interface FetchHandlerOptions {
  /** Whose word on the client's address is taken: nobody's, that of so many proxies, or of these. @default false */
  readonly trustProxy?: TrustProxy | undefined
}

/** What makes plain values of a Request and of what a server tells of its connection. */
type Served<Connection> = new (request: Request, connection: Connection, readAddress: AddressReader) => ApiRequest

/** Tells what a promise is fulfilled with, where the runtime can without waiting; `undefined` elsewhere. */
type Peek = (promise: Promise<ApiResponse>) => ApiResponse | undefined

/** What the doors on Bun and Deno share: a handler that never throws or rejects. */
export function fetchAnswerer<Connection>(
  petStore: PetStore,
  options: FetchHandlerOptions,
  Served: Served<Connection>,
  peek?: Peek,
): (request: Request, connection: Connection) => Response | Promise<Response> {
  checkPetStore(petStore)
  const readAddress = readerOf(options)
  return (request, connection) => {
    try {
      const answer = petStore.handle(new Served(request, connection, readAddress))
      const known = peek?.(answer)
      return known === undefined ? later(answer) : toResponse(known)
    } catch {
      return toResponse(errorResponse('internal_error'))
    }
  }
}

async function later(answer: Promise<ApiResponse>): Promise<Response> {
  try {
    return toResponse(await answer)
  } catch {
    return toResponse(errorResponse('internal_error'))
  }
}
