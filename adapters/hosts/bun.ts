import { type ApiResponse, type PetStore, PetStoreError } from '../../src/index.ts'
import { invalidOption } from '../../src/support/option-rules.ts'
import { createFetchHandler, type FetchHandlerOptions } from './shared/fetch-handler.ts'
import { ServedRequest } from './shared/served-request.ts'

export type { TrustProxy } from './shared/client-address.ts'

/** The options of {@link toBunHandler}. */
export type BunHandlerOptions = FetchHandlerOptions

/** What is needed of Bun's server: the address of a connection, or `null` for a Unix socket. */
export interface BunServer {
  requestIP(request: Request): { readonly address: string } | null
}

/** A `fetch` handler of `Bun.serve`, or a handler of one of its `routes`. It never throws or rejects. */
export type BunHandler = (request: Request, server: BunServer) => Response | Promise<Response>

/**
 * Creates a handler for `Bun.serve` that knows each client's address.
 *
 * `petStore.fetch` is enough if the address is not needed.
 *
 * @throws {PetStoreError} `invalid_option` if the store or `trustProxy` is wrong
 * @example
 * ```ts
 * import { createPetStore } from 'petstore-kit'
 * import { toBunHandler } from 'petstore-kit/bun'
 *
 * Bun.serve({ port: 3000, fetch: toBunHandler(createPetStore()) })
 * ```
 */
export function toBunHandler(petStore: PetStore, options: BunHandlerOptions = {}): BunHandler {
  return createFetchHandler(petStore, options, BunRequest, peek)
}

/** What is needed of Bun itself. */
interface BunGlobal {
  readonly peek?: { (promise: Promise<ApiResponse>): ApiResponse; status(promise: Promise<unknown>): string }
}

const { Bun } = globalThis as { readonly Bun?: BunGlobal }

/** Bun sends a Response sooner than a promise of a Response. */
function peek(promise: Promise<ApiResponse>): ApiResponse | undefined {
  return promise instanceof Promise && Bun?.peek?.status(promise) === 'fulfilled' ? Bun.peek(promise) : undefined
}

class BunRequest extends ServedRequest<BunServer> {
  /** Bun knows the address only of Requests that it has created itself. */
  protected override peer(): string | undefined {
    const { connection } = this
    try {
      return connection.requestIP(this.request)?.address
    } catch {
      // Bun throws for a Request that the host has replaced, such as the proxy of a router.
      if (typeof connection?.requestIP === 'function') return undefined
      throw invalidOption('server', 'the server that Bun.serve passes as the second argument', connection)
    }
  }

  /** Bun enforces Content-Length, so a body that fits is read at once. A stream would cost far more. */
  override async body(limit: number): Promise<Uint8Array> {
    const { request } = this
    const length = this.header('content-length')
    if (length === undefined || Number(length) > limit || request.bodyUsed || this.peer() === undefined)
      return super.body(limit)
    try {
      return new Uint8Array(await request.arrayBuffer())
    } catch (cause) {
      // The host has locked the stream.
      if (!request.bodyUsed) return super.body(limit)
      throw new PetStoreError('incomplete_body', undefined, { cause })
    }
  }
}
