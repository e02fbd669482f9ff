import type { ServerResponse } from 'node:http'
import * as z from 'zod/mini'
import { isBelow, originForm, pathOf } from '../../src/http/request.ts'
import { pairsOf } from '../../src/http/response.ts'
import type { AdmitOptions, ApiKey, ApiResponse, PetStore } from '../../src/index.ts'
import { expecting } from '../../src/schemas/expected.ts'
import { invalidOption, optionsOf } from '../../src/schemas/options.ts'
import { parseOptions } from '../../src/schemas/parse-options.ts'
import { admitOnNode } from './node/guard.ts'
import { nodeResponder, type ResponseWriter } from './node/handler.ts'
import type { HostRequest, NodeIncoming, NodeOutgoing } from './node/messages.ts'
import { hasAllHeaders, type MountedTarget, matchedPath, proxyHeaders } from './node/request.ts'
import { discardBody, mergeHeaders } from './node/response.ts'
import { mountGuardWithHostSetting } from './shared/mounted-guard.ts'
import { type HostAddressReader, mountWithHostSetting, noTrustProxy, petStore } from './shared/mounted-store.ts'

export type { ApiKey } from '../../src/index.ts'
export type { NodeIncoming, NodeOutgoing } from './node/messages.ts'

/** The options of {@link toFastifyPlugin}. */
export interface FastifyPluginOptions {
  /** The store to mount. */
  readonly petStore: PetStore
  /** Fastify's own option: the path under which the plugin's routes are added. @default none */
  readonly prefix?: string | undefined
  /** Fastify has its own option: `Fastify({ trustProxy: ['10.0.0.0/8'] })`. */
  readonly trustProxy?: undefined
}

/** The part of a Fastify request that the plugin uses. */
export interface FastifyRequestLike {
  readonly raw: NodeIncoming
  readonly ip: string
  /** Set only if Fastify trusts proxies. */
  readonly ips?: string[] | undefined
}

/** The part of a Fastify reply that the plugin uses. */
export interface FastifyReplyLike {
  readonly raw: NodeOutgoing
  code(status: number): unknown
  header(name: string, value: string | string[]): unknown
  removeHeader(name: string): unknown
  getHeader(name: string): unknown
  getHeaders(): object
  send(body?: Uint8Array): unknown
}

/** The part of a Fastify instance that the plugin uses to add routes. */
export interface FastifyScope {
  readonly prefix: string
  all(
    path: string,
    options: {
      exposeHeadRoute: boolean
      /**
       * Not `{ hide: boolean }`: Fastify's types know `hide` only if @fastify/swagger is installed.
       */
      schema: object
      onRequest: (request: FastifyRequestLike, reply: FastifyReplyLike) => Promise<unknown>
    },
    handler: (request: FastifyRequestLike, reply: FastifyReplyLike) => unknown,
  ): unknown
}

/** Fastify checks its own options. */
const ofFastify = z.optional(z.unknown())
const SETTING = 'Fastify({ trustProxy: … }) to the addresses of the proxies'
const pluginOptions = optionsOf<FastifyPluginOptions>(
  { petStore, trustProxy: noTrustProxy(SETTING), prefix: z.optional(z.string(expecting('a path such as "/shop"'))) },
  { others: { logLevel: ofFastify, logSerializers: ofFastify } },
)

/**
 * Adds the store's routes to a Fastify scope.
 *
 * The plugin responds in an `onRequest` hook, before Fastify reads a body. Your own `onRequest`
 * hooks run before it, your `onSend` and `onResponse` hooks after it. Clients without a key are
 * counted by `request.ip`, for which Fastify has the option `trustProxy`. With the `prefix` `/shop`,
 * the `basePath` `/v1` and `/shop/v1` both serve `/shop/v1`.
 *
 * @throws {PetStoreError} `invalid_option` if the store or an option is invalid
 * @example
 * ```ts
 * import Fastify from 'fastify'
 * import { createPetStore } from 'petstore-kit'
 * import { toFastifyPlugin } from 'petstore-kit/fastify'
 *
 * const server = Fastify()
 * server.register(toFastifyPlugin, { petStore: createPetStore() })
 * await server.listen({ port: 3000 })
 * ```
 */
export async function toFastifyPlugin(scope: FastifyScope, options: FastifyPluginOptions): Promise<void> {
  // If a caller passes the store instead of the scope, there are no options, and the error says
  // that `petStore` is missing.
  const { petStore } = parseOptions(pluginOptions, options ?? {})
  const { readAddress, fail } = mountWithHostSetting(petStore, SETTING)
  const respond = nodeResponder(petStore, fail)
  const prefix = scope.prefix.replace(/\/$/, '')
  const shared = overlap(prefix, petStore.basePath)
  const mount = prefix.slice(0, prefix.length - shared.length)
  const url = petStore.basePath.slice(shared.length)
  const onRequest = (request: FastifyRequestLike, reply: FastifyReplyLike) => {
    const incoming = request.raw as HostRequest
    const address = addressOf(request, readAddress)
    return respond(incoming, reply.raw as ServerResponse, mountedTargetOf(incoming, mount), address, writerTo(reply))
  }
  const handler = (_request: FastifyRequestLike, reply: FastifyReplyLike) => reply
  // Without a prefix and a base path, `/*` is enough, because it also matches the root.
  const paths = prefix + url === '' ? ['/*'] : [url, `${url}/*`]
  // Otherwise, @fastify/swagger would add an operation for each method of a wildcard route to the
  // host's own document.
  const schema = { hide: true }
  for (const path of paths) scope.all(path, { exposeHeadRoute: false, schema, onRequest }, handler)
}

function addressOf({ raw, ip, ips }: FastifyRequestLike, readAddress: HostAddressReader): string | undefined {
  const incoming = raw as HostRequest
  const found = hasAllHeaders(incoming) ? ip : undefined
  return readAddress(found, raw.socket?.remoteAddress, proxyHeaders(incoming), ips !== undefined)
}

/**
 * The prefix may contain parameters, such as `/:shop`, so its segments are counted and not
 * compared.
 */
function mountedTargetOf(raw: HostRequest, prefix: string): MountedTarget {
  const rest = originForm(raw.url ?? '/')
  const matched = matchedPath(raw)
  const segments = pathOf(rest).split('/', prefix.split('/').length)
  return { target: matched + rest, mountPath: matched + segments.join('/') }
}

/**
 * Returns the end of the prefix that is also the start of the base path: `/v1` for `/shop/v1` and
 * the base path `/v1/a`.
 */
function overlap(prefix: string, basePath: string): string {
  for (let at = prefix.indexOf('/'); at !== -1; at = prefix.indexOf('/', at + 1))
    if (isBelow(basePath, prefix.slice(at))) return prefix.slice(at)
  return ''
}

function writerTo(reply: FastifyReplyLike): ResponseWriter {
  return (incoming, outgoing, response) => send(reply, incoming, outgoing, response)
}

/** The body is sent as bytes: for a string, Fastify would add a charset to Content-Type. */
async function send(
  reply: FastifyReplyLike,
  incoming: HostRequest,
  outgoing: ServerResponse,
  { status, headers, body }: ApiResponse,
): Promise<void> {
  await discardBody(incoming, outgoing)
  reply.code(status)
  try {
    for (const [name, value] of Object.entries(mergeHeaders(headers, (header) => reply.getHeader(header)))) {
      // `reply.header` would append to the existing `Set-Cookie`, which `value` already contains.
      reply.removeHeader(name)
      reply.header(name, value)
    }
    // A HEAD route that Fastify has added replaces Content-Length by the length of what is sent.
    const length = incoming.method === 'HEAD' ? Number(reply.getHeader('content-length')) : 0
    const sent = body.padEnd(length)
    reply.send(sent === '' ? undefined : Buffer.from(sent))
  } catch (error) {
    // `reply.send` throws if any header is invalid, even one of the host. The following 500 must
    // omit the invalid header.
    for (const name of Object.keys(reply.getHeaders())) reply.removeHeader(name)
    throw error
  }
}

/** The options of {@link fastifyGuard}. */
export interface FastifyGuardOptions extends AdmitOptions {
  /** Fastify has its own option: `Fastify({ trustProxy: ['10.0.0.0/8'] })`. */
  readonly trustProxy?: undefined
}

/** A hook for `onRequest` of Fastify. */
export type FastifyGuard = (request: FastifyRequestLike, reply: FastifyReplyLike) => Promise<unknown>

/**
 * Creates a hook of Fastify 5 for routes of your own. It checks the API key, counts the request like
 * one of the API, and sets the rate-limit headers. A request without permission gets the response of
 * the API. {@link apiKeyOf} returns the key in the route.
 *
 * @throws {PetStoreError} `invalid_option` if the store or an option is invalid
 * @example
 * ```ts
 * import Fastify from 'fastify'
 * import { createPetStore } from 'petstore-kit'
 * import { apiKeyOf, fastifyGuard } from 'petstore-kit/fastify'
 *
 * const server = Fastify()
 * const onRequest = fastifyGuard(createPetStore())
 * server.get('/orders', { onRequest }, (request) => ({ account: apiKeyOf(request).account }))
 * ```
 */
export function fastifyGuard(petStore: PetStore, options: FastifyGuardOptions = {}): FastifyGuard {
  const { readAddress, admit } = mountGuardWithHostSetting(petStore, SETTING, options)
  return async (request, reply) => {
    const incoming = request.raw as HostRequest
    const outgoing = reply.raw as ServerResponse
    const clientAddress = addressOf(request, readAddress)
    const admitted = await admitOnNode(admit, { incoming, outgoing, clientAddress }, writerTo(reply))
    // Without the reply, Fastify would call the route.
    if (!admitted) return reply
    for (const [name, value] of pairsOf(admitted.headers)) reply.header(name, value)
    Object.assign(request, { [API_KEY]: admitted.key })
    return undefined
  }
}

/** `Symbol.for`, because the hook and the route may use different copies of this package. */
const API_KEY = Symbol.for('petstore-kit.apiKey')

/**
 * Returns the API key of a request that {@link fastifyGuard} has admitted.
 * @throws {PetStoreError} `invalid_option` if no guard has admitted the request
 * @example
 * ```ts
 * import Fastify from 'fastify'
 * import { createPetStore } from 'petstore-kit'
 * import { apiKeyOf, fastifyGuard } from 'petstore-kit/fastify'
 *
 * const server = Fastify()
 * server.addHook('onRequest', fastifyGuard(createPetStore()))
 * server.get('/orders', (request) => ({ account: apiKeyOf(request).account }))
 * ```
 */
export function apiKeyOf(request: FastifyRequestLike): ApiKey {
  const key = (request as { readonly [API_KEY]?: ApiKey })[API_KEY]
  if (!key) throw invalidOption('request', 'a request that fastifyGuard has admitted', request)
  return key
}
