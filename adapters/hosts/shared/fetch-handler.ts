import { errorResponse } from '../../../src/http/response.ts'
import { type ApiResponse, type PetStore, toResponse } from '../../../src/index.ts'
import { checkPetStore } from './check-pet-store.ts'
import { type AddressReader, readerOf, type TrustProxy } from './client-address.ts'
import type { ServedRequest } from './served-request.ts'

/** The options of the adapters for Bun and Deno. */
export interface FetchHandlerOptions {
  /** Which proxies to trust for the client's address. @default false */
  readonly trustProxy?: TrustProxy | undefined
}

/** A class that adapts a Request and its connection to `ApiRequest`. */
type Served<Connection> = new (
  request: Request,
  connection: Connection,
  readAddress: AddressReader,
) => ServedRequest<Connection>

/** Returns a promise's value if the promise is fulfilled and the runtime can read the value at once; otherwise `undefined`. */
type Peek = (promise: Promise<ApiResponse>) => ApiResponse | undefined

/** Creates a handler for Bun or Deno. The handler never throws or rejects. */
export function createFetchHandler<Connection>(
  petStore: PetStore,
  options: FetchHandlerOptions,
  Served: Served<Connection>,
  peek?: Peek,
): (request: Request, connection: Connection) => Response | Promise<Response> {
  checkPetStore(petStore)
  const readAddress = readerOf(options)
  return (request, connection) => {
    try {
      const served = new Served(request, connection, readAddress)
      const answer = petStore.handle(served)
      const known = peek?.(answer)
      return known === undefined ? later(answer, served) : toResponse(known)
    } catch {
      return toResponse(errorResponse('internal_error'))
    }
  }
}

async function later(answer: Promise<ApiResponse>, served: ServedRequest<unknown>): Promise<Response> {
  try {
    return toResponse(await answer)
  } catch {
    return toResponse(errorResponse('internal_error'))
  } finally {
    served.isAnswered = true
  }
}
