import { FetchRequest } from '../../src/door.ts'
import { PetStoreError } from '../../src/index.ts'

/** A request that may have come from the HTTP server of a runtime as it is. */
export class ServedRequest extends FetchRequest {
  readonly #isServed: () => boolean

  /** @param isServed - whether the server made this very Request, and no code of the host's, such as one that unpacks bodies */
  constructor(request: Request, address: () => string | undefined, isServed: () => boolean) {
    super(request, address)
    this.#isServed = isServed
  }

  /** A server holds a body to its Content-Length: one that fits is read at once, where a stream would cost far more. */
  override async body(limit: number): Promise<Uint8Array> {
    const { request } = this
    const length = this.header('content-length')
    if (length === undefined || Number(length) > limit || request.bodyUsed || !this.#isServed())
      return super.body(limit)
    try {
      return new Uint8Array(await request.arrayBuffer())
    } catch (cause) {
      // Only a stream that the host has locked was not used by this.
      if (!request.bodyUsed) return super.body(limit)
      throw new PetStoreError('incomplete_body', undefined, { cause })
    }
  }
}
