import type { PetStore } from '../../src/index.ts'
import { type NodeHandlerOptions, toNodeHandler } from './node/handler.ts'
import type { NodeIncoming, NodeOutgoing } from './node/types.ts'

export type { NodeIncoming, NodeOutgoing } from './node/types.ts'
export type { TrustProxy } from './shared/client-address.ts'

/** The options of {@link toExpressHandler}. */
export type ExpressHandlerOptions = NodeHandlerOptions

/** A middleware of Express 4 and 5. It never throws, and never hands an error to `next`. */
export type ExpressHandler = (request: NodeIncoming, response: NodeOutgoing, next: (error?: unknown) => void) => void

/**
 * Makes a middleware for Express 4 and 5, and for routers of their kind.
 *
 * It may be mounted at the root, under a prefix, inside a Router or on a wildcard. Where the prefix is part of the store's
 * `basePath`, or stands before it, links name the path that the client asked for. What lies outside goes to `next`.
 * Mount it ahead of body parsers: of a body that one has read, only what is certainly exact is taken.
 *
 * @throws {PetStoreError} `invalid_option` where the store or `trustProxy` is wrong
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
  return toNodeHandler(petStore, options)
}
