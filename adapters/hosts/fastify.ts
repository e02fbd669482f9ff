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
  /** Fastify's own option: the path under which the plugin's routes are added. @default none */
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

/** What is needed of a Fastify instance, to which routes are added. */
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

/** Options of a plugin that Fastify reads itself. */
const FASTIFY_OPTIONS = ['prefix', 'logLevel', 'logSerializers']

/**
 * Adds the store's routes to a Fastify scope.
 *
 * It responds in `onRequest`, before Fastify reads a body. The host's `onRequest` hooks run before it, `onSend` and `onResponse`
 * after it. A `prefix` may stand before the store's `basePath`, or be the beginning of it.
 *
 * @throws {PetStoreError} `invalid_option` if the store or an option is wrong
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
  // The store itself is a likely wrong argument, since other adapters take it; it has no member `petStore`.
  const petStore = options?.petStore
  checkPetStore(petStore)
  const readAddress = readerOf(options, ['petStore', ...FASTIFY_OPTIONS])
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
      // Fastify would send the message of an error to the client.
      send(reply, raw, errorResponse('internal_error'))
    }
    return reply
  }
  const handler = (_request: FastifyRequestLike, reply: FastifyReplyLike) => reply
  // Without a prefix and a base path, the wildcard includes the root.
  const paths = prefix + url === '' ? ['/*'] : [url, `${url}/*`]
  for (const path of paths)
    scope.route({ method: scope.supportedMethods, url: path, exposeHeadRoute: false, onRequest, handler })
}

/** A prefix may contain parameters, so its number of segments decides which part of the path is the mount path. */
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
