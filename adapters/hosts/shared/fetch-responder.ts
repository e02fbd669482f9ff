import { FetchRequest } from '../../../src/http/fetch.ts'
import { type PetStore, toResponse } from '../../../src/index.ts'
import { type HandlerOptions, mountStore } from './mounted-store.ts'

/** Returns the IP address of the connection. Throws if the host has passed something else. */
type PeerReader = () => string | undefined

/**
 * Returns a function that responds to a `Request`. It never rejects, even if the store rejects.
 * @param RequestOfHost - the class whose methods do what the runtime does otherwise
 */
export function fetchResponder(petStore: PetStore, options: HandlerOptions, RequestOfHost = FetchRequest) {
  const { readAddress, fail } = mountStore(petStore, options)
  return async (request: Request, readPeer: PeerReader): Promise<Response> => {
    let received: FetchRequest | undefined
    try {
      const header = (name: string) => request.headers.get(name) ?? undefined
      received = new RequestOfHost(request, () => readAddress(readPeer(), header))
      return received.respond(await petStore.handle(received))
    } catch (error) {
      const response = fail(error, received)
      return received ? received.respond(response) : toResponse(response)
    }
  }
}
