import { FetchRequest } from '../../../src/http/request.ts'
import type { AddressReader } from './client-address.ts'

/** A Request, together with its connection. */
export abstract class ServedRequest<Connection> extends FetchRequest {
  /** True after the store has responded. */
  isAnswered = false
  protected readonly connection: Connection
  readonly #readAddress: AddressReader
  #address: string | undefined | null = null

  constructor(request: Request, connection: Connection, readAddress: AddressReader) {
    super(request)
    this.connection = connection
    this.#readAddress = readAddress
  }

  /** Returns the connection's address. It is called only when the address is needed, because it takes time. */
  protected abstract peer(): string | undefined

  /** The client's address. It is remembered, because a closed connection has no address. */
  override get clientAddress(): string | undefined {
    if (this.#address === null) this.#address = this.#readAddress(this.peer(), this.header('x-forwarded-for'))
    return this.#address
  }
}
