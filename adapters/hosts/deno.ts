import { PetStoreError } from '../../src/errors.ts'
import { FetchRequest } from '../../src/http/fetch.ts'
import type { PetStore } from '../../src/index.ts'
import { invalidOption } from '../../src/schemas/options.ts'
import { fetchResponder } from './shared/fetch-responder.ts'
import type { HandlerOptions } from './shared/mounted-store.ts'

export type { TrustProxy } from './shared/client-address.ts'
export type { HandlerOptions } from './shared/mounted-store.ts'

/**
 * The part of a Deno handler's second argument that this adapter uses. A Unix socket has no
 * `hostname`.
 */
export interface DenoServeInfo {
  readonly remoteAddr: object & { readonly hostname?: string }
}

/** A handler for `Deno.serve`. It never throws or rejects. */
export type DenoHandler = (request: Request, info: DenoServeInfo) => Promise<Response>

/**
 * Creates a handler for `Deno.serve` that passes each client's address to the store.
 *
 * If you do not need the address, pass `petStore.fetch` to `Deno.serve` instead.
 *
 * @throws {PetStoreError} `invalid_option` if the store or `trustProxy` is invalid
 * @example
 * ```ts
 * import { createPetStore } from 'petstore-kit'
 * import { toDenoHandler } from 'petstore-kit/deno'
 *
 * Deno.serve({ port: 3000 }, toDenoHandler(createPetStore()))
 * ```
 */
export function toDenoHandler(petStore: PetStore, options: HandlerOptions = {}): DenoHandler {
  const respond = fetchResponder(petStore, options, DenoRequest)
  return (request, info) => respond(request, () => peerAddress(info))
}

function peerAddress(info: DenoServeInfo | undefined): string | undefined {
  if (!info?.remoteAddr) throw invalidOption('info', 'the info that Deno.serve passes as the second argument', info)
  return info.remoteAddr.hostname
}

class DenoRequest extends FetchRequest {
  override readonly target = targetOf(this.request)
  #disconnected: AbortController | undefined

  /**
   * Aborts only if the client disconnects. The signal of Deno's Request also aborts after each
   * response (denoland/deno#28850). Deno 2.9 prints a warning once that signal is read (#34397), so
   * only this getter reads it. `info.completed` cannot replace the signal: this promise also
   * resolves if the client left before the response.
   */
  override get signal(): AbortSignal {
    if (this.#disconnected) return this.#disconnected.signal
    const disconnected = new AbortController()
    const { signal } = this.request
    const onAbort = () => {
      if (!this.isAnswered) disconnected.abort()
    }
    if (signal?.aborted) onAbort()
    else signal?.addEventListener('abort', onAbort)
    this.#disconnected = disconnected
    return disconnected.signal
  }

  /** Whether the client has disconnected. Always `false` if nothing has read `signal`. */
  get isAborted(): boolean {
    return this.#disconnected?.signal.aborted ?? false
  }

  /** No signal is needed: Deno ends the read if the client disconnects. */
  protected override get bodySignal(): undefined {
    return undefined
  }

  /** As above. Reading the signal of a Request is slow on Deno. */
  protected override wholeBody(): Promise<ArrayBuffer> {
    return this.request.arrayBuffer()
  }

  /**
   * Over HTTP/2, an aborted upload without Content-Length ends like a complete upload. Only the
   * signal shows the difference, and it aborts a moment later.
   */
  override async body(limit: number): Promise<Uint8Array> {
    // A request without Host is one over HTTP/2, which has `:authority` in its place (RFC 9113,
    // section 8.3.1).
    if (this.header('host') !== undefined || this.header('content-length') !== undefined) return super.body(limit)
    const { signal } = this
    const bytes = await super.body(limit)
    // Wait for the signal with a timer: Deno 2.9 aborts it only after `setImmediate`.
    await new Promise((resolve) => setTimeout(resolve))
    if (signal.aborted) throw new PetStoreError('incomplete_body')
    return bytes
  }

  /** Deno closes the connection if the request body is neither read nor cancelled before the response. */
  protected override async discardRest(body: ReadableStream<Uint8Array>): Promise<void> {
    if (!body.locked) await body.cancel()
  }
}

/**
 * Returns the URL, but only its target if the Host header contains a path: Deno copies this header
 * into the URL unchecked.
 */
function targetOf({ url, headers }: Request): string {
  const host = headers.get('host') ?? ''
  const start = url.indexOf('://') + 3
  return /[/?#\\]/.test(host) && url.startsWith(host, start) ? url.slice(start + host.length) : url
}
