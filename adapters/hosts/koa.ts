import type { ServerResponse } from 'node:http'
import { pairsOf } from '../../src/http/response.ts'
import type { ApiKey, ApiResponse, PetStore } from '../../src/index.ts'
import { admitOnNode } from './node/guard.ts'
import type { ResponseWriter } from './node/handler.ts'
import type { HostRequest, NodeIncoming, NodeOutgoing } from './node/messages.ts'
import { proxyHeaders } from './node/request.ts'
import { discardBody, mergeHeaders } from './node/response.ts'
import { type GuardOptions, mountGuard } from './shared/mounted-guard.ts'

export type { ApiKey } from '../../src/index.ts'
export type { NodeIncoming, NodeOutgoing } from './node/messages.ts'
export type { TrustProxy } from './shared/client-address.ts'
export type { GuardOptions } from './shared/mounted-guard.ts'
export type { HandlerOptions } from './shared/mounted-store.ts'

/** The members that {@link koaGuard} adds to `context.state`. */
export interface ApiKeyState {
  /** The API key of the request. */
  apiKey: ApiKey
}

/** The part of Koa's context that the guard uses. */
export interface KoaContextLike {
  readonly req: NodeIncoming
  readonly res: NodeOutgoing
  readonly originalUrl: string
  readonly state: object
  status: number
  body: unknown
  set(name: string, value: string | string[]): void
}

/** A middleware for Koa. */
export type KoaGuard = (context: KoaContextLike, next: () => Promise<unknown>) => Promise<void>

/**
 * Creates a middleware of Koa for routes of your own. It checks the API key, counts the request like
 * one of the API, puts the key into `context.state.apiKey`, and sets the rate-limit headers. A
 * request without permission gets the response of the API.
 *
 * @throws {PetStoreError} `invalid_option` if the store or an option is invalid
 * @example
 * ```ts
 * import Koa from 'koa'
 * import { createPetStore } from 'petstore-kit'
 * import { type ApiKeyState, koaGuard } from 'petstore-kit/koa'
 *
 * const app = new Koa<ApiKeyState>()
 * app.use(koaGuard(createPetStore()))
 * app.use((context) => {
 *   context.body = { account: context.state.apiKey.account }
 * })
 * ```
 */
export function koaGuard(petStore: PetStore, options: GuardOptions = {}): KoaGuard {
  const { readAddress, admit } = mountGuard(petStore, options)
  return async (context, next) => {
    const { originalUrl: target, state } = context
    const incoming = context.req as HostRequest
    const outgoing = context.res as ServerResponse
    const clientAddress = readAddress(incoming.socket?.remoteAddress, proxyHeaders(incoming))
    const write: ResponseWriter = (_incoming, _outgoing, response) => send(context, response)
    const admitted = await admitOnNode(admit, { incoming, outgoing, target, clientAddress }, write)
    if (!admitted) return
    const headers = pairsOf(admitted.headers)
    for (const [name, value] of headers) context.set(name, value)
    Object.assign(state, { apiKey: admitted.key } satisfies ApiKeyState)
    try {
      await next()
    } catch (error) {
      // Koa removes all headers from the response to an error, except those of the error itself.
      // A second guard or the route may have replaced them.
      const current = headers.map(([name, value]) => [name, outgoing.getHeader(name) ?? value])
      if (error instanceof Error) addHeaders(error, Object.fromEntries(current))
      throw error
    }
  }
}

/** Replaces headers of an earlier request, because an app may throw one error object for many requests. */
function addHeaders(error: Error & { headers?: object }, headers: object): void {
  Reflect.set(error, 'headers', { ...error.headers, ...headers })
}

async function send(context: KoaContextLike, { status, headers, body }: ApiResponse): Promise<void> {
  const outgoing = context.res as ServerResponse
  await discardBody(context.req as HostRequest, outgoing)
  context.status = status
  // Before the headers, because Koa sets the type and the length of the body.
  context.body = body
  for (const [name, value] of Object.entries(mergeHeaders(headers, (header) => outgoing.getHeader(header))))
    context.set(name, value)
}
