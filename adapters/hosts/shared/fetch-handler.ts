import { tooLarge } from '../../../src/http/read-body.ts'
import { FetchRequest } from '../../../src/http/request.ts'
import { type PetStore, PetStoreError, toResponse } from '../../../src/index.ts'
import type { AddressReader } from './client-address.ts'
import { type HandlerOptions, mountStore } from './mounted-store.ts'

/** A Request, together with its connection. */
export abstract class ServedRequest<Connection> extends FetchRequest {
  /** True after the store has responded. */
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

  /** The connection's address. It is remembered, because reading it takes time, and a closed connection has no address. */
  protected get peer(): string | undefined {
    if (this.#peer === null) this.#peer = this.readPeer()
    return this.#peer
  }

  override get clientAddress(): string | undefined {
    return this.#readAddress(this.peer, this.header('x-forwarded-for'))
  }

  /** Reads the body in one call if its length is declared and fits. A stream takes far longer, on Deno as long as all the rest. */
  override async body(limit: number): Promise<Uint8Array> {
    const { request } = this
    const length = this.header('content-length')
    if (length === undefined || Number(length) > limit || request.bodyUsed) return super.body(limit)
    const bytes = await this.#wholeBody(limit)
    // A router may pass a Request of its own with a larger body than Content-Length says.
    if (bytes.byteLength > limit) throw tooLarge(limit)
    // On Deno, the body of an aborted HTTP/2 upload ends without an error.
    if (bytes.byteLength < Number(length)) throw new PetStoreError('incomplete_body')
    return bytes
  }

  async #wholeBody(limit: number): Promise<Uint8Array> {
    const { request } = this
    try {
      return new Uint8Array(await request.arrayBuffer())
    } catch (cause) {
      // Another reader has locked the body stream. The inherited method reports that.
      if (!request.bodyUsed) return super.body(limit)
      throw new PetStoreError('incomplete_body', undefined, { cause })
    }
  }
}

/** A class that adapts a Request and its connection to `ApiRequest`. */
type Served<Connection> = new (
  request: Request,
  connection: Connection,
  readAddress: AddressReader,
) => ServedRequest<Connection>

/** Creates a handler for Bun or Deno. The handler never rejects. */
export function createFetchHandler<Connection>(
  petStore: PetStore,
  options: HandlerOptions,
  Served: Served<Connection>,
): (request: Request, connection: Connection) => Promise<Response> {
  const { readAddress, checkProxy, fail } = mountStore(petStore, options)
  return async (request, connection) => {
    let served: ServedRequest<Connection> | undefined
    try {
      served = new Served(request, connection, readAddress)
      checkProxy(served)
      return toResponse(await petStore.handle(served))
    } catch (error) {
      return toResponse(fail(error, served))
    } finally {
      if (served) served.isAnswered = true
    }
  }
}
