import { FetchRequest } from '../../../src/http/request.ts'
import { type PetStore, toResponse } from '../../../src/index.ts'
import { type AddressReader, FORWARDED_FOR } from './client-address.ts'
import { type HandlerOptions, mountStore } from './mounted-store.ts'

export abstract class ServedRequest<Connection> extends FetchRequest {
  isAnswered = false
  protected readonly connection: Connection
  readonly #readAddress: AddressReader
  #peer: string | undefined | null = null

  constructor(request: Request, connection: Connection, readAddress: AddressReader) {
    super(request)
    this.connection = connection
    this.#readAddress = readAddress
  }

  protected abstract readPeer(): string | undefined

  override get clientAddress(): string | undefined {
    // The IP address of the connection is stored: reading it is slow, and a closed connection has none.
    if (this.#peer === null) this.#peer = this.readPeer()
    return this.#readAddress(this.#peer, this.header(FORWARDED_FOR))
  }

  /** Ignores the signal: Bun and Deno end the read if the client disconnects, and reading Deno's signal is slow. */
  protected override wholeBody(): Promise<ArrayBuffer> {
    return this.request.arrayBuffer()
  }
}

export function createFetchHandler<Connection>(
  petStore: PetStore,
  options: HandlerOptions,
  Served: new (request: Request, connection: Connection, readAddress: AddressReader) => ServedRequest<Connection>,
): (request: Request, connection: Connection) => Promise<Response> {
  const { readAddress, warnAboutProxy, fail } = mountStore(petStore, options)
  return async (request, connection) => {
    let served: ServedRequest<Connection> | undefined
    try {
      served = new Served(request, connection, readAddress)
      warnAboutProxy(served)
      return toResponse(await petStore.handle(served))
    } catch (error) {
      return toResponse(fail(error, served))
    } finally {
      if (served) served.isAnswered = true
    }
  }
}
