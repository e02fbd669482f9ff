import { FetchRequest } from '../../../src/http/request.ts'
import type { AddressReader } from './client-address.ts'

/** A Request with the connection that it came from. */
export abstract class ServedRequest<Connection> extends FetchRequest {
  protected readonly connection: Connection
  readonly #readAddress: AddressReader
  #address: string | undefined | null = null

  constructor(request: Request, connection: Connection, readAddress: AddressReader) {
    super(request)
    this.connection = connection
    this.#readAddress = readAddress
  }

  /** Returns the address of the connection. It is read only when needed, because that takes time. */
  protected abstract peer(): string | undefined

  /** Kept, because a closed connection has no address. */
  override get clientAddress(): string | undefined {
    if (this.#address === null) this.#address = this.#readAddress(this.peer(), this.header('x-forwarded-for'))
    return this.#address
  }
}
