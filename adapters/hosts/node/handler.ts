import type { ServerResponse } from 'node:http'
import { isBrokenConnection } from '../../../src/errors.ts'
import type { ApiResponse, PetStore } from '../../../src/index.ts'
import { invalidOption } from '../../../src/schemas/options.ts'
import { type Fail, type HandlerOptions, mountStore } from '../shared/mounted-store.ts'
import { isFlooded } from './flood.ts'
import type { HostRequest, NodeIncoming, NodeOutgoing } from './messages.ts'
import { findMountedTarget, type MountedTarget, NodeRequest, proxyHeaders } from './request.ts'
import { writeResponse } from './response.ts'

/**
 * A request handler for Node's servers, and a middleware for frameworks built on them. It throws
 * only if its arguments are not a request and a response of Node. For hosts such as Koa, it returns
 * a promise that resolves when the response is written.
 */
export type NodeHandler = (request: NodeIncoming, response: NodeOutgoing, next?: (error?: unknown) => void) => unknown

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
  const { readAddress, fail } = mountStore(petStore, options)
  const addressOf: AddressOf = (incoming) => readAddress(incoming.socket?.remoteAddress, proxyHeaders(incoming))
  return nodeHandler(petStore, addressOf, fail)
}

/** Finds the address of the client. Called at the start of each request. */
type AddressOf = (incoming: HostRequest) => string | undefined

/** Returns a handler that responds with the errors of `fail`. */
export function nodeHandler(petStore: PetStore, addressOf: AddressOf, fail: Fail): NodeHandler {
  const respond = nodeResponder(petStore, fail)
  return (request, response, next) => {
    // The compatibility API of HTTP/2 has the same members.
    const incoming = request as HostRequest
    const outgoing = response as ServerResponse
    const mounted = findMountedTarget(incoming, petStore.basePath)
    if (mounted === undefined && next !== undefined) return next()
    // Koa and Fastify pass their own objects instead of Node's.
    if (typeof outgoing?.end !== 'function')
      throw invalidOption('response', 'a ServerResponse of Node as the second argument', outgoing)
    const target = mounted ?? { target: incoming.url ?? '/', mountPath: '' }
    return respond(incoming, outgoing, target, addressOf(incoming))
  }
}

export type ResponseWriter = (
  incoming: HostRequest,
  outgoing: ServerResponse,
  response: ApiResponse,
) => Promise<void> | undefined

/** The returned function never rejects, even if the store or the host fails. */
export function nodeResponder(petStore: PetStore, fail: Fail) {
  return async (
    incoming: HostRequest,
    outgoing: ServerResponse,
    mounted: MountedTarget,
    clientAddress: string | undefined,
    write: ResponseWriter = writeResponse,
  ): Promise<void> => {
    if (isFlooded(incoming, outgoing)) return
    const request = new NodeRequest(incoming, outgoing, mounted, clientAddress)
    try {
      await write(incoming, outgoing, await petStore.handle(request))
    } catch (error) {
      if (isBrokenConnection(error)) {
        outgoing.destroy()
        return
      }
      const failure = fail(error, request)
      try {
        if (outgoing.headersSent) outgoing.destroy()
        else await write(incoming, outgoing, failure)
      } catch {
        outgoing.destroy()
      }
    }
  }
}
