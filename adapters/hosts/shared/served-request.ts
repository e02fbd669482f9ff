import { FetchRequest } from '../../../src/http/request.ts'
import type { AddressReader } from './client-address.ts'

/** A request that a runtime's server hands over, with what that tells of its connection. */
export abstract class ServedRequest<Connection> extends FetchRequest {
  protected readonly connection: Connection
  readonly #readAddress: AddressReader
  #address: string | undefined | null = null

  constructor(request: Request, connection: Connection, readAddress: AddressReader) {
    super(request)
    this.connection = connection
    this.#readAddress = readAddress
  }

  /** The address that the connection came from. Finding it out takes time that most requests can save. */
  protected abstract peer(): string | undefined

  /** Remembered: a connection that has closed has no address any more. */
  override get clientAddress(): string | undefined {
    if (this.#address === null) this.#address = this.#readAddress(this.peer(), this.header('x-forwarded-for'))
    return this.#address
  }
}
