import type { PetStore } from '../../src/index.ts'
import { toNodeHandler } from './node/handler.ts'
import type { NodeIncoming, NodeOutgoing } from './node/messages.ts'
import type { HandlerOptions } from './shared/mounted-store.ts'

export type { NodeIncoming, NodeOutgoing } from './node/messages.ts'
export type { TrustProxy } from './shared/client-address.ts'
export type { HandlerOptions } from './shared/mounted-store.ts'

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
 * @throws {PetStoreError} `invalid_option` if the store or `trustProxy` is invalid
 * @example
 * ```ts
 * import express from 'express'
 * import { createPetStore } from 'petstore-kit'
 * import { toExpressHandler } from 'petstore-kit/express'
 *
 * express().use(toExpressHandler(createPetStore())).listen(3000)
 * ```
 */
export function toExpressHandler(petStore: PetStore, options: HandlerOptions = {}): ExpressHandler {
  return toNodeHandler(petStore, options)
}
