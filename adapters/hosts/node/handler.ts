import { errorResponse } from '../../../src/http/response.ts'
import type { ApiResponse, PetStore } from '../../../src/index.ts'
import { invalidOption } from '../../../src/support/option-rules.ts'
import { checkPetStore } from '../shared/check-pet-store.ts'
import { readerOf, type TrustProxy } from '../shared/client-address.ts'
import { batchedWrites } from './batched-writes.ts'
import { currentHeader, sentHeader } from './headers.ts'
import { findPlace, type Place } from './mount-path.ts'
import { isAfterLastRequest, turnOf } from './pipelining.ts'
import { NodeRequest } from './request.ts'
import type { NodeHandler, NodeIncoming, NodeOutgoing } from './types.ts'
import { writeResponse } from './write-response.ts'

/** The options of {@link toNodeHandler}. */
export interface NodeHandlerOptions {
  /** Which proxies to trust for the client's address. @default false */
  readonly trustProxy?: TrustProxy | undefined
}

/**
 * Creates a request handler for `node:http`, `node:https`, and the compatibility API of `node:http2`.
 *
 * With a third argument it is a middleware: requests outside the store's base path go to `next`.
 *
 * @throws {PetStoreError} `invalid_option` if the store or `trustProxy` is wrong
 * @example
 * ```ts
 * import { createServer } from 'node:http'
 * import { createPetStore } from 'petstore-kit'
 * import { toNodeHandler } from 'petstore-kit/node'
 *
 * createServer(toNodeHandler(createPetStore())).listen(3000, '127.0.0.1')
 * ```
 */
export function toNodeHandler(petStore: PetStore, options: NodeHandlerOptions = {}): NodeHandler {
  const respond = nodeResponder(petStore, options)
  return (incoming, outgoing, next) => {
    const place = findPlace(incoming, petStore.basePath)
    if (place === undefined && next !== undefined) return next()
    // Koa and Fastify would pass objects of their own if they were given this handler.
    if (typeof outgoing?.end !== 'function')
      throw invalidOption('response', 'a ServerResponse of Node as the second argument', outgoing)
    // As a middleware, it reads the headers as the host has changed them.
    const readHeader = next === undefined ? sentHeader : currentHeader
    void respond(incoming, outgoing, place ?? { target: incoming.url ?? '/', mountPath: '' }, readHeader)
  }
}

/** Responds to one request at a known place. */
export type NodeResponder = (
  incoming: NodeIncoming,
  outgoing: NodeOutgoing,
  place: Place,
  readHeader: typeof sentHeader,
  awaitsContinue?: boolean,
) => Promise<void>

/** Creates the function that all adapters for Node requests share. It never rejects, although a wrapped store may. */
export function nodeResponder(petStore: PetStore, options: NodeHandlerOptions): NodeResponder {
  checkPetStore(petStore)
  const readAddress = readerOf(options)
  const batchWrite = batchedWrites()
  return async (incoming, outgoing, place, readHeader, awaitsContinue = isContinueDue(incoming, outgoing)) => {
    if (isAfterLastRequest(incoming)) return
    const request = new NodeRequest(incoming, outgoing, place, readAddress, readHeader, awaitsContinue)
    let response: ApiResponse
    try {
      const turn = turnOf(outgoing)
      if (turn !== undefined && !(await turn)) return
      response = await petStore.handle(request)
    } catch {
      response = errorResponse('internal_error')
    }
    const batch = batchWrite()
    if (batch !== undefined) await batch
    try {
      writeResponse(incoming, outgoing, request, response)
    } catch {
      giveUp(incoming, outgoing, request)
    }
  }
}

/** Returns whether the client waits for "100 Continue": Node sends none if the host listens to `checkContinue`. */
function isContinueDue(incoming: NodeIncoming, outgoing: NodeOutgoing): boolean {
  // Reading `headers` would make Node build the object.
  if (!(incoming.httpVersionMajor > 1)) return outgoing._expect_continue === true && outgoing._sent100 === false
  const isSent = outgoing.stream?.sentInfoHeaders?.some((info) => info[':status'] === 100)
  return incoming.headers?.expect === '100-continue' && !isSent
}

/** If a response cannot be written, sends a 500, or at least closes the connection. */
function giveUp(incoming: NodeIncoming, outgoing: NodeOutgoing, request: NodeRequest): void {
  try {
    if (outgoing.headersSent) outgoing.destroy()
    else writeResponse(incoming, outgoing, request, errorResponse('internal_error'))
  } catch {
    // A host that has wrapped the response may throw here too.
    outgoing.destroy()
  }
}
