import { FetchRequest } from '../../../src/http/fetch.ts'
import { type PetStore, toResponse } from '../../../src/index.ts'
import { type AddressReader, FORWARDED_FOR } from './client-address.ts'
import { type HandlerOptions, mountStore } from './mounted-store.ts'

/** Returns the IP address of the connection. Throws if the host has passed something else. */
type PeerReader = () => string | undefined

/**
 * A `Request` and the address of its connection. The adapters of Bun and Deno override what their
 * runtime does otherwise.
 */
export class ServedRequest extends FetchRequest {
  isAnswered = false
  readonly #peer: string | undefined
  readonly #readAddress: AddressReader

  constructor(request: Request, peer: string | undefined, readAddress: AddressReader) {
    super(request)
    this.#peer = peer
    this.#readAddress = readAddress
  }

  override get clientAddress(): string | undefined {
    return this.#readAddress(this.#peer, this.header(FORWARDED_FOR))
  }
}

/** The returned function never rejects, even if the store rejects. */
export function fetchResponder(petStore: PetStore, options: HandlerOptions, Served = ServedRequest) {
  const { readAddress, warnAboutProxy, fail } = mountStore(petStore, options)
  return async (request: Request, readPeer: PeerReader): Promise<Response> => {
    let served: ServedRequest | undefined
    try {
      // Read the address now, because a closed connection has none.
      served = new Served(request, readPeer(), readAddress)
      warnAboutProxy(served)
      return toResponse(await petStore.handle(served))
    } catch (error) {
      return toResponse(fail(error, served))
    } finally {
      if (served) served.isAnswered = true
    }
  }
}
