import { originForm, pathOf } from '../../src/http/request-target.ts'
import { errorResponse } from '../../src/http/response.ts'
import type { ApiResponse, PetStore } from '../../src/index.ts'
import { batchedWrites } from './node/batched-writes.ts'
import type { NodeHandlerOptions } from './node/handler.ts'
import { currentHeader } from './node/headers.ts'
import { matchedPath, overlap, type Place } from './node/mount-path.ts'
import { turnOf } from './node/pipelining.ts'
import { NodeRequest } from './node/request.ts'
import type { NodeIncoming, NodeOutgoing } from './node/types.ts'
import { endAfterBody } from './node/write-response.ts'
import { checkPetStore } from './shared/check-pet-store.ts'
import { readerOf } from './shared/client-address.ts'
import { mergeHeaders } from './shared/response-headers.ts'

export type { NodeIncoming, NodeOutgoing } from './node/types.ts'
export type { TrustProxy } from './shared/client-address.ts'

/** The options of {@link petStorePlugin}. */
export interface PetStorePluginOptions extends NodeHandlerOptions {
  /** The store to mount. */
  readonly petStore: PetStore
  /** Fastify's own option: the path under which the plugin's routes stand. @default none */
  readonly prefix?: string | undefined
}

/** What is needed of a Fastify request. */
export interface FastifyRequestLike {
  readonly raw: NodeIncoming
}

/** What is needed of a Fastify reply. */
export interface FastifyReplyLike {
  readonly raw: NodeOutgoing
  code(status: number): unknown
  header(name: string, value: string | string[]): unknown
  removeHeader(name: string): unknown
  getHeader(name: string): unknown
  send(body?: Uint8Array): unknown
}

/** What is needed of a Fastify instance: a scope of its own, in which routes are added. */
export interface FastifyScope {
  readonly prefix: string
  readonly supportedMethods: string[]
  route(options: {
    method: string[]
    url: string
    exposeHeadRoute: boolean
    onRequest: (request: FastifyRequestLike, reply: FastifyReplyLike) => Promise<unknown>
    handler: (request: FastifyRequestLike, reply: FastifyReplyLike) => unknown
  }): unknown
}

/** What Fastify reads itself of the options of a plugin. */
const FASTIFYS_OWN = ['prefix', 'logLevel', 'logSerializers']

/**
 * A Fastify plugin that adds the store's routes in a scope of its own.
 *
 * Requests are answered before Fastify reads a body, so parsers are neither used nor touched. Hooks of the host run as for
 * its own routes: `onRequest` before, `onSend` and `onResponse` after. A `prefix` may stand before the store's `basePath`,
 * or end with its beginning.
 *
 * @throws {PetStoreError} `invalid_option` where the store or an option is wrong
 * @example
 * ```ts
 * import Fastify from 'fastify'
 * import { createPetStore } from 'petstore-kit'
 * import { petStorePlugin } from 'petstore-kit/fastify'
 *
 * const server = Fastify()
 * server.register(petStorePlugin, { petStore: createPetStore() })
 * await server.listen({ port: 3000 })
 * ```
 */
export async function petStorePlugin(scope: FastifyScope, options: PetStorePluginOptions): Promise<void> {
  // Who calls it with a store, as other doors are called, gives no options.
  const petStore = options?.petStore
  checkPetStore(petStore)
  const readAddress = readerOf(options, ['petStore', ...FASTIFYS_OWN])
  const batchWrite = batchedWrites()
  const prefix = scope.prefix.replace(/\/$/, '')
  const shared = overlap(prefix, petStore.basePath)
  const mount = prefix.slice(0, prefix.length - shared.length)
  const url = petStore.basePath.slice(shared.length)
  const onRequest = async ({ raw }: FastifyRequestLike, reply: FastifyReplyLike) => {
    const place = placeOf(raw, mount)
    const request = new NodeRequest(raw, reply.raw, place, readAddress, currentHeader, false)
    try {
      if ((await turnOf(reply.raw)) === false) return reply
      const answer = await petStore.handle(request)
      await batchWrite()
      send(reply, raw, answer)
    } catch {
      // What a store throws that a host has wrapped would be told to the client.
      send(reply, raw, errorResponse('internal_error'))
    }
    return reply
  }
  const handler = (_request: FastifyRequestLike, reply: FastifyReplyLike) => reply
  // Where nothing stands before it, the wildcard alone takes the root in.
  const paths = prefix + url === '' ? ['/*'] : [url, `${url}/*`]
  for (const path of paths)
    scope.route({ method: scope.supportedMethods, url: path, exposeHeadRoute: false, onRequest, handler })
}

/** A prefix may hold parameters, so it is its number of segments that is taken off the path. */
function placeOf(raw: NodeIncoming, prefix: string): Place {
  const rest = originForm(raw.url ?? '/')
  const matched = matchedPath(raw, rest)
  const segments = pathOf(rest).split('/', prefix.split('/').length)
  return { target: matched + rest, mountPath: matched + segments.join('/') }
}

/** Sends bytes, because Fastify adds a charset to the type of a text. */
function send(reply: FastifyReplyLike, raw: NodeIncoming, { status, headers, body }: ApiResponse): void {
  reply.code(status)
  for (const [name, values] of mergeHeaders(headers, (header) => reply.getHeader(header))) {
    // Fastify appends to `Set-Cookie` by itself.
    reply.removeHeader(name)
    reply.header(name, values)
  }
  endAfterBody(raw, reply.raw, () => reply.send(body === '' ? undefined : Buffer.from(body)))
}
