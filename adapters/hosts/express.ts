import type { PetStore } from '../../src/index.ts'
import { optionsOf } from '../../src/schemas/options.ts'
import { parseOptions } from '../../src/schemas/parse-options.ts'
import { nodeHandler } from './node/handler.ts'
import type { NodeIncoming, NodeOutgoing } from './node/messages.ts'
import { hasAllHeaders, proxyHeaders } from './node/request.ts'
import { mountWithHostSetting, noTrustProxy } from './shared/mounted-store.ts'

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
  return nodeHandler(
    petStore,
    (incoming) => {
      const { ip, app, socket } = incoming
      const found = hasAllHeaders(incoming) ? ip : undefined
      return readAddress(found, socket?.remoteAddress, proxyHeaders(incoming), Boolean(app?.get?.('trust proxy')))
    },
    fail,
  )
}
