import type { ServerResponse } from 'node:http'
import type { AdmitOptions, ApiKey, PetStore } from '../../src/index.ts'
import { optionsOf } from '../../src/schemas/options.ts'
import { parseOptions } from '../../src/schemas/parse-options.ts'
import { admitOnNode, setHeaders } from './node/guard.ts'
import { nodeHandler } from './node/handler.ts'
import type { HostRequest, NodeIncoming, NodeOutgoing } from './node/messages.ts'
import { hasAllHeaders, proxyHeaders } from './node/request.ts'
import { mountGuardWithHostSetting } from './shared/mounted-guard.ts'
import { type HostAddressReader, mountWithHostSetting, noTrustProxy } from './shared/mounted-store.ts'

export type { ApiKey } from '../../src/index.ts'
export type { NodeIncoming, NodeOutgoing } from './node/messages.ts'

/** The options of {@link toExpressHandler}. */
export interface ExpressHandlerOptions {
  /** Express has its own setting: `app.set('trust proxy', 1)`. */
  readonly trustProxy?: undefined
}

const SETTING = "app.set('trust proxy', …) of Express to the number of proxies or to their addresses"
const expressOptions = optionsOf<ExpressHandlerOptions>({ trustProxy: noTrustProxy(SETTING) })

/** A middleware for Express 4 and 5. It never throws, and never passes an error to `next`. */
export type ExpressHandler = (request: NodeIncoming, response: NodeOutgoing, next: (error?: unknown) => void) => void

/**
 * Creates a middleware for Express 4 and 5.
 *
 * Mount it at the root, under a prefix or in a Router. The prefix may come before the store's
 * `basePath` or be part of it. Links contain the path that the client requested. Requests outside
 * the base path go to `next`. Mount the middleware before body parsers: it uses a parsed body only
 * if parsing certainly lost nothing.
 *
 * Clients without a key are counted by `request.ip`, for which Express has the setting `trust proxy`.
 *
 * @throws {PetStoreError} `invalid_option` if the store is invalid
 * @example
 * ```ts
 * import express from 'express'
 * import { createPetStore } from 'petstore-kit'
 * import { toExpressHandler } from 'petstore-kit/express'
 *
 * express().use(toExpressHandler(createPetStore())).listen(3000)
 * ```
 */
export function toExpressHandler(petStore: PetStore, options: ExpressHandlerOptions = {}): ExpressHandler {
  const { readAddress, fail } = mountWithHostSetting(petStore, SETTING)
  parseOptions(expressOptions, options)
  return nodeHandler(petStore, (incoming) => addressOf(incoming, readAddress), fail)
}

function addressOf(incoming: HostRequest, readAddress: HostAddressReader): string | undefined {
  const { ip, app, socket } = incoming
  const found = hasAllHeaders(incoming) ? ip : undefined
  return readAddress(found, socket?.remoteAddress, proxyHeaders(incoming), Boolean(app?.get?.('trust proxy')))
}

/** The options of {@link expressGuard}. Express has its own setting for proxies. */
export interface ExpressGuardOptions extends AdmitOptions, ExpressHandlerOptions {}

/** The members that {@link expressGuard} adds to `response.locals`. */
export interface ApiKeyLocals {
  /** The API key of the request. */
  apiKey: ApiKey
}

/** A middleware for Express 4 and 5. It passes errors to `next`. */
export interface ExpressGuard {
  /** Stands before a router, as in `app.use('/orders', guard, router)`, which does not know the type of `locals`. */
  (
    request: NodeIncoming,
    response: NodeOutgoing & { readonly locals: object },
    next: (error?: unknown) => void,
  ): Promise<void>
  /** Stands before a handler of a route, which gets the type of `locals`: Express takes the last signature. */
  (
    request: NodeIncoming,
    response: NodeOutgoing & { readonly locals: ApiKeyLocals },
    next: (error?: unknown) => void,
  ): Promise<void>
}

/**
 * Creates a middleware of Express 4 and 5 for routes of your own. It checks the API key, counts the
 * request like one of the API, puts the key into `response.locals.apiKey`, and sets the rate-limit
 * headers. A request without permission gets the response of the API.
 *
 * @throws {PetStoreError} `invalid_option` if the store or an option is invalid
 * @example
 * ```ts
 * import express, { type Response } from 'express'
 * import { createPetStore } from 'petstore-kit'
 * import { type ApiKeyLocals, expressGuard } from 'petstore-kit/express'
 *
 * const app = express()
 * app.use('/orders', expressGuard(createPetStore()))
 * app.get('/orders', (_request, response: Response<unknown, ApiKeyLocals>) => {
 *   response.json({ account: response.locals.apiKey.account })
 * })
 * ```
 */
export function expressGuard(petStore: PetStore, options: ExpressGuardOptions = {}): ExpressGuard {
  const { readAddress, admit } = mountGuardWithHostSetting(petStore, SETTING, options)
  return async (request, response, next) => {
    // The compatibility API of HTTP/2 has the same members.
    const incoming = request as HostRequest
    const outgoing = response as ServerResponse & { readonly locals: ApiKeyLocals }
    try {
      const clientAddress = addressOf(incoming, readAddress)
      const admitted = await admitOnNode(admit, { incoming, outgoing, clientAddress })
      if (!admitted) return
      setHeaders(outgoing, admitted)
      Object.assign(outgoing.locals, { apiKey: admitted.key } satisfies ApiKeyLocals)
    } catch (error) {
      return next(error)
    }
    next()
  }
}
