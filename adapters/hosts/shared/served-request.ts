import { FetchRequest } from '../../../src/http/fetch.ts'
import { type PetStore, toResponse } from '../../../src/index.ts'
import { type AddressReader, FORWARDED_FOR } from './client-address.ts'
import { type HandlerOptions, mountStore } from './mounted-store.ts'

/**
 * Returns the IP address of the connection. Called only if the address is needed, because asking
 * some runtimes for it is slow.
 */
export type PeerReader = () => string | undefined

/**
 * A `Request` and the address of its connection. The adapters of Bun and Deno override what their
 * runtime does otherwise.
 */
export class ServedRequest extends FetchRequest {
  isAnswered = false
  readonly #readPeer: PeerReader
  readonly #readAddress: AddressReader
  #peer: string | undefined | null = null

  constructor(request: Request, readPeer: PeerReader, readAddress: AddressReader) {
    super(request)
    this.#readPeer = readPeer
    this.#readAddress = readAddress
  }

  override get clientAddress(): string | undefined {
    // Stored, because a closed connection has no address.
    if (this.#peer === null) this.#peer = this.#readPeer()
    return this.#readAddress(this.#peer, this.header(FORWARDED_FOR))
  }
}

/** The returned function never rejects, even if the store rejects. */
export function fetchResponder(petStore: PetStore, options: HandlerOptions, Served = ServedRequest) {
  const { readAddress, warnAboutProxy, fail } = mountStore(petStore, options)
  return async (request: Request, readPeer: PeerReader): Promise<Response> => {
    let served: ServedRequest | undefined
    try {
      served = new Served(request, readPeer, readAddress)
      warnAboutProxy(served)
      return toResponse(await petStore.handle(served))
    } catch (error) {
      return toResponse(fail(error, served))
    } finally {
      if (served) served.isAnswered = true
    }
  }
}
