import { type ErrorCode, isBrokenConnection } from '../../../src/errors.ts'
import type { ApiResponse, PetStore } from '../../../src/index.ts'
import { invalidOption } from '../../../src/schemas/options.ts'
import { type HandlerOptions, mountStore, unlessRejected } from '../shared/mounted-store.ts'
import { isAfterLastRequest, waitForEarlierResponses } from './connections.ts'
import type { NodeHandler, NodeIncoming, NodeOutgoing } from './messages.ts'
import { currentHeader, type HeaderReader } from './messages.ts'
import { findMountedTarget, type MountedTarget, NodeRequest } from './request.ts'
import { isGone, type ResponseWriter, writeResponse } from './response.ts'

/**
 * Creates a request handler for `node:http`, `node:https`, and the compatibility API of
 * `node:http2`.
 *
 * Called with a third argument, the handler is a middleware: it passes requests outside the store's
 * base path to `next`.
 *
 * @throws {PetStoreError} `invalid_option` if the store or `trustProxy` is invalid
 * @example
 * ```ts
 * import { createServer } from 'node:http'
 * import { createPetStore } from 'petstore-kit'
 * import { toNodeHandler } from 'petstore-kit/node'
 *
 * createServer(toNodeHandler(createPetStore())).listen(3000, '127.0.0.1')
 * ```
 */
export function toNodeHandler(petStore: PetStore, options: HandlerOptions = {}): NodeHandler {
  const respond = nodeResponder(petStore, options)
  return (incoming, outgoing, next) => {
    const mounted = findMountedTarget(incoming, petStore.basePath)
    if (mounted === undefined && next !== undefined) return next()
    // Koa and Fastify pass their own objects instead of Node's.
    if (typeof outgoing?.end !== 'function')
      throw invalidOption('response', 'a ServerResponse of Node as the second argument', outgoing)
    return respond(incoming, outgoing, mounted ?? { target: incoming.url ?? '/', mountPath: '' })
  }
}

interface ResponderParts {
  /** By default, reads the headers as earlier middleware has changed them. */
  readonly readHeader?: HeaderReader
  readonly write?: ResponseWriter
  /** The error with which the adapter rejects the request. */
  readonly rejection?: ErrorCode
}

/** The returned function never rejects, even if the store rejects. */
export function nodeResponder(petStore: PetStore, options: HandlerOptions) {
  const { readAddress, fail } = mountStore(petStore, options)
  return async (
    incoming: NodeIncoming,
    outgoing: NodeOutgoing,
    mounted: MountedTarget,
    { readHeader = currentHeader, write = writeResponse, rejection }: ResponderParts = {},
  ) => {
    const request = new NodeRequest(incoming, outgoing, mounted, readAddress, readHeader, rejection)
    if (isAfterLastRequest(incoming)) return
    let response: ApiResponse
    try {
      const waiting = waitForEarlierResponses(outgoing)
      if (waiting !== undefined && !(await waiting)) return
      response = unlessRejected(petStore, request, await petStore.handle(request))
    } catch (error) {
      if (isBrokenConnection(error)) {
        outgoing.destroy()
        return
      }
      response = fail(error, request)
    }
    try {
      const written = write(request, response)
      if (written) await written
    } catch (error) {
      if (isGone(outgoing)) return
      const failure = fail(error, request)
      try {
        if (outgoing.headersSent) outgoing.destroy()
        else await write(request, failure)
      } catch {
        outgoing.destroy()
      }
    }
  }
}
