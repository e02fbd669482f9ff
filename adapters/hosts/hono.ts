import * as z from 'zod/mini'
import { FetchRequest } from '../../src/http/fetch.ts'
import { pairsOf } from '../../src/http/response.ts'
import type { ApiKey, PetStore } from '../../src/index.ts'
import type { Shape } from '../../src/schemas/expected.ts'
import { functionOf, optionsOf } from '../../src/schemas/options.ts'
import { parseOptions } from '../../src/schemas/parse-options.ts'
import { type GuardOptions, guardShape, mountGuard } from './shared/mounted-guard.ts'

export type { ApiKey } from '../../src/index.ts'
export type { TrustProxy } from './shared/client-address.ts'
export type { GuardOptions } from './shared/mounted-guard.ts'
export type { HandlerOptions } from './shared/mounted-store.ts'

/** The variables that {@link honoGuard} sets: `new Hono<{ Variables: ApiKeyVariables }>()`. */
export interface ApiKeyVariables {
  /** The API key of the request: `c.get('apiKey')`. */
  apiKey: ApiKey
}

/** The part of the result of Hono's `getConnInfo` that the guard uses. */
export interface ConnInfoLike {
  readonly remote: { readonly address?: string | undefined }
}

/** The options of {@link honoGuard}. */
export interface HonoGuardOptions extends GuardOptions {
  /**
   * `getConnInfo` from the adapter of your runtime, such as `@hono/node-server/conninfo`. It tells
   * the address of a client without a valid key. If it throws, as for `app.request()`, the address
   * is unknown.
   * @default addresses are unknown, and requests without a valid key are not counted
   */
  readonly getConnInfo?: ((c: never) => ConnInfoLike) | undefined
}

const honoOptions = optionsOf<HonoGuardOptions>({
  ...guardShape,
  getConnInfo: z.optional(functionOf<NonNullable<HonoGuardOptions['getConnInfo']>>()),
} satisfies Shape<HonoGuardOptions>)

/** The part of Hono's context that the guard uses. */
export interface HonoContextLike {
  readonly req: { readonly raw: Request }
  readonly res: Response
  readonly set: (name: never, value: never) => void
  readonly header: (name: string, value: string) => void
}

/** A middleware for Hono. */
export type HonoGuard = (c: HonoContextLike, next: () => Promise<void>) => Promise<Response | undefined>

/**
 * Creates a middleware of Hono for routes of your own. It checks the API key, counts the request
 * like one of the API, gives the key to the route as `c.get('apiKey')`, and sets the rate-limit
 * headers. A request without permission gets the response of the API.
 *
 * @throws {PetStoreError} `invalid_option` if the store or an option is invalid
 * @example
 * ```ts
 * import { Hono } from 'hono'
 * import { createPetStore } from 'petstore-kit'
 * import { type ApiKeyVariables, honoGuard } from 'petstore-kit/hono'
 *
 * const app = new Hono<{ Variables: ApiKeyVariables }>()
 * app.use('/orders/*', honoGuard(createPetStore()))
 * app.get('/orders/mine', (c) => c.json({ account: c.get('apiKey').account }))
 * console.log((await app.request('/orders/mine')).status) // 401
 * ```
 */
export function honoGuard(petStore: PetStore, options: HonoGuardOptions = {}): HonoGuard {
  const { getConnInfo, ...guardOptions } = parseOptions(honoOptions, options)
  const { readAddress, admit } = mountGuard(petStore, guardOptions)
  return async (c, next) => {
    const { raw } = c.req
    const header = (name: string) => raw.headers.get(name) ?? undefined
    const received = new FetchRequest(raw, () => readAddress(peerOf(c, getConnInfo), header))
    const admission = await admit(received)
    if (admission.response) return received.respond(admission.response)
    const set = c.set as (name: keyof ApiKeyVariables, value: ApiKey) => void
    set('apiKey', admission.key)
    await next()
    // The response of a WebSocket cannot be copied.
    if (c.res.status === 101) return undefined
    // A route may return a Response of its own, so the headers are set only now. Those of a second guard, of
    // the API and of the route are newer.
    for (const [name, value] of pairsOf(admission.headers)) if (!c.res.headers.has(name)) c.header(name, value)
    return undefined
  }
}

function peerOf(c: HonoContextLike, getConnInfo: HonoGuardOptions['getConnInfo']): string | undefined {
  try {
    return getConnInfo?.(c as never).remote.address
  } catch {
    return undefined
  }
}
