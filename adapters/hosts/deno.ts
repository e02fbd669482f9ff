import { PetStoreError } from '../../src/errors.ts'
import { FetchRequest } from '../../src/http/fetch.ts'
import type { BodyReader } from '../../src/http/read-body.ts'
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
  return async (request, info) => {
    const response = await respond(request, () => peerAddress(info))
    // After a 404, a router may pass the request on to another handler, which reads the request
    // body.
    if (response.status === 404) return cancelBodyWhenSent(request, response)
    void cancelBody(request)
    return response
  }
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

  /** Deno closes the connection if the request body is neither read nor cancelled. */
  protected override async discardRest(reader: BodyReader): Promise<void> {
    await reader.cancel().catch(() => {})
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

/** Cancels an unread request body. Otherwise, Deno closes the connection after the response. */
async function cancelBody(request: Request): Promise<void> {
  try {
    if (!request.bodyUsed) await request.body?.cancel()
  } catch {
    // Nothing to cancel: another handler is reading the body, or has replaced the Request.
  }
}

/**
 * Returns a response that cancels the request body when it is sent. Until then, other handlers can
 * read the body.
 */
async function cancelBodyWhenSent(request: Request, response: Response): Promise<Response> {
  if (!response.body || request.bodyUsed || !request.body) return response
  const bytes = new Uint8Array(await response.arrayBuffer())
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    await cancelBody(request)
    controller.enqueue(bytes)
    controller.close()
  }
  const sent = new Response(new ReadableStream({ pull }, { highWaterMark: 0 }), response)
  sent.headers.set('Content-Length', String(bytes.byteLength))
  return sent
}
