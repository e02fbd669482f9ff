import { PetStoreError } from '../errors.ts'
import type { CallContext } from '../ports.ts'
import { readBody, tooLarge } from './read-body.ts'

/** A request as plain values. Its parts are read only when they are asked for. */
export interface ApiRequest extends CallContext {
  /** The method, as it came. */
  readonly method: string
  /** The request target as the client sent it: path and query, or the absolute form of RFC 9112, section 3.2.2. */
  readonly target: string
  /** The leading part of the target's path that a router of the host has already matched, such as `/shop`. */
  readonly mountPath?: string | undefined
  /** The client's address, where the door knows it. It is asked for before anything is waited for, or not at all. */
  readonly clientAddress?: string | undefined
  /** The value of a header, by its lower-case name; several of one name are joined by a comma and a space. */
  header(name: string): string | undefined
  /**
   * The whole body.
   *
   * @throws {PetStoreError} `payload_too_large` as soon as it is known to exceed `limit` bytes, `incomplete_body` where it
   * breaks off, `body_already_read` where the host has read it and nothing exact is left
   */
  body(limit: number): Promise<Uint8Array>
}

/**
 * Reads a `Request` as plain values, without copying it.
 *
 * For whoever mounts the store behind a Fetch-style server of their own and knows the client's address.
 *
 * @example
 * ```ts
 * import { createPetStore, memory, toApiRequest, toResponse } from 'petstore-kit'
 *
 * const petStore = createPetStore(memory())
 * const request = new Request('http://localhost/v1/pets', { headers: { 'cf-connecting-ip': '203.0.113.7' } })
 * const address = request.headers.get('cf-connecting-ip') ?? undefined
 * const response = toResponse(await petStore.handle(toApiRequest(request, address)))
 * console.log(response.status) // 401
 * ```
 */
export function toApiRequest(request: Request, clientAddress?: string): ApiRequest {
  return new FetchRequest(request, clientAddress)
}

/** A `Request` as plain values. */
export class FetchRequest implements ApiRequest {
  readonly method: string
  readonly target: string
  protected readonly request: Request
  readonly #address: string | undefined

  constructor(request: Request, address?: string) {
    this.method = request.method
    this.target = request.url
    this.request = request
    this.#address = address
  }

  get clientAddress(): string | undefined {
    return this.#address
  }

  /** Requests of some hosts have none. */
  get signal(): AbortSignal | undefined {
    return this.request.signal
  }

  header(name: string): string | undefined {
    return this.request.headers.get(name) ?? undefined
  }

  async body(limit: number): Promise<Uint8Array> {
    const length = this.header('content-length')
    if (Number(length ?? 0) > limit) throw tooLarge(limit)
    const { request } = this
    const stream = request.body
    const isRead = request.bodyUsed || stream?.locked
    if (isRead && length !== '0') throw new PetStoreError('body_already_read')
    return isRead || stream === null ? new Uint8Array() : readBody(request, limit, Number(length), this.signal)
  }
}
