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
  /** Whose word on the client's address is taken: nobody's, that of so many proxies, or of these. @default false */
  readonly trustProxy?: TrustProxy | undefined
}

/**
 * Makes a request handler for `node:http`, `node:https`, and the compatibility API of `node:http2`.
 *
 * As a middleware, with a third argument, it passes on what lies outside the store's base path.
 *
 * @throws {PetStoreError} `invalid_option` where the store or `trustProxy` is wrong
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
  const answer = nodeAnswerer(petStore, options)
  return (incoming, outgoing, next) => {
    const place = findPlace(incoming, petStore.basePath)
    if (place === undefined && next !== undefined) return next()
    // A host of another kind, such as Koa or Fastify, calls it with objects of its own.
    if (typeof outgoing?.end !== 'function')
      throw invalidOption('response', 'a ServerResponse of Node as the second argument', outgoing)
    // Behind others, what they have made of the headers counts.
    const readHeader = next === undefined ? sentHeader : currentHeader
    void answer(incoming, outgoing, place ?? { target: incoming.url ?? '/', mountPath: '' }, readHeader)
  }
}

/** Answers one request at a known place. */
export type NodeAnswerer = (
  incoming: NodeIncoming,
  outgoing: NodeOutgoing,
  place: Place,
  readHeader: typeof sentHeader,
  awaitsContinue?: boolean,
) => Promise<void>

/** What every door on Node's own requests shares. The core never throws, but a store that a host has wrapped may. */
export function nodeAnswerer(petStore: PetStore, options: NodeHandlerOptions): NodeAnswerer {
  checkPetStore(petStore)
  const readAddress = readerOf(options)
  const batchWrite = batchedWrites()
  return async (incoming, outgoing, place, readHeader, awaitsContinue = isContinueDue(incoming, outgoing)) => {
    if (isAfterLastRequest(incoming)) return
    const request = new NodeRequest(incoming, outgoing, place, readAddress, readHeader, awaitsContinue)
    let answer: ApiResponse
    try {
      const turn = turnOf(outgoing)
      if (turn !== undefined && !(await turn)) return
      answer = await petStore.handle(request)
    } catch {
      answer = errorResponse('internal_error')
    }
    const batch = batchWrite()
    if (batch !== undefined) await batch
    try {
      writeResponse(incoming, outgoing, request, answer)
    } catch {
      giveUp(incoming, outgoing, request)
    }
  }
}

/** Whether the client waits for "100 Continue" that nobody has sent, as where the host listens to `checkContinue` itself. */
function isContinueDue(incoming: NodeIncoming, outgoing: NodeOutgoing): boolean {
  // Node makes its object of headers when it is asked for.
  if (!(incoming.httpVersionMajor > 1)) return outgoing._expect_continue === true && outgoing._sent100 === false
  const isSent = outgoing.stream?.sentInfoHeaders?.some((info) => info[':status'] === 100)
  return incoming.headers?.expect === '100-continue' && !isSent
}

/** What cannot be written is no answer: the client gets another, or is at least let go. */
function giveUp(incoming: NodeIncoming, outgoing: NodeOutgoing, request: NodeRequest): void {
  try {
    if (outgoing.headersSent) outgoing.destroy()
    else writeResponse(incoming, outgoing, request, errorResponse('internal_error'))
  } catch {
    // A host that has wrapped the response may throw here as well. Nobody is left to tell.
    outgoing.destroy()
  }
}
