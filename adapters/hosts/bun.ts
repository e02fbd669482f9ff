import { type ApiResponse, type PetStore, PetStoreError } from '../../src/index.ts'
import { invalidOption } from '../../src/support/option-rules.ts'
import { type FetchHandlerOptions, fetchAnswerer } from './shared/fetch-handler.ts'
import { ServedRequest } from './shared/served-request.ts'

export type { TrustProxy } from './shared/client-address.ts'

/** The options of {@link toBunHandler}. */
export type BunHandlerOptions = FetchHandlerOptions

/** What is needed of Bun's server: to tell the address of a connection; `null` for a Unix socket. */
export interface BunServer {
  requestIP(request: Request): { readonly address: string } | null
}

/** A `fetch` of `Bun.serve`, or a handler of one of its `routes`. It never throws or rejects. */
export type BunHandler = (request: Request, server: BunServer) => Response | Promise<Response>

/**
 * Makes a handler for `Bun.serve` that knows each client's address.
 *
 * Without need of the address, `petStore.fetch` does as well.
 *
 * @throws {PetStoreError} `invalid_option` where the store or `trustProxy` is wrong
 * @example
 * ```ts
 * import { createPetStore } from 'petstore-kit'
 * import { toBunHandler } from 'petstore-kit/bun'
 *
 * Bun.serve({ port: 3000, fetch: toBunHandler(createPetStore()) })
 * ```
 */
export function toBunHandler(petStore: PetStore, options: BunHandlerOptions = {}): BunHandler {
  return fetchAnswerer(petStore, options, BunRequest, peek)
}

/** What is needed of Bun itself. */
interface BunGlobal {
  readonly peek?: { (promise: Promise<ApiResponse>): ApiResponse; status(promise: Promise<unknown>): string }
}

const { Bun } = globalThis as { readonly Bun?: BunGlobal }

/** Bun sends a Response sooner than a promise of one. */
function peek(promise: Promise<ApiResponse>): ApiResponse | undefined {
  return promise instanceof Promise && Bun?.peek?.status(promise) === 'fulfilled' ? Bun.peek(promise) : undefined
}

class BunRequest extends ServedRequest<BunServer> {
  /** Bun knows the address of the Requests that it made itself, and of no other, such as one of a host that unpacks bodies. */
  protected override peer(): string | undefined {
    const { connection } = this
    try {
      return connection.requestIP(this.request)?.address
    } catch {
      // Bun throws for what only stands for a Request, such as the proxy of a router. A host that names no server is wrong.
      if (typeof connection?.requestIP === 'function') return undefined
      throw invalidOption('server', 'that of Bun as the second argument', connection)
    }
  }

  /** A server holds a body to its Content-Length: one that fits is read at once, where a stream would cost far more. */
  override async body(limit: number): Promise<Uint8Array> {
    const { request } = this
    const length = this.header('content-length')
    if (length === undefined || Number(length) > limit || request.bodyUsed || this.peer() === undefined)
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
