import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { IttyRouter } from 'itty-router'
import * as z from 'zod/mini'
import { isBelow, originForm, pathOf } from '../../../src/http/request.ts'
import { jsonResponse } from '../../../src/http/response.ts'
import type { PathParameters } from '../../../src/http/routes.ts'
import type { ApiRequest, ApiResponse, MaybePromise, PetStore, ReadyCheck } from '../../../src/index.ts'
import { functionOf, milliseconds, optionsOf, textThat, wholeNumber } from '../../../src/schemas/options.ts'
import { parseOptions } from '../../../src/schemas/parse-options.ts'
import { type HandlerOptions, handlerShape, report } from '../shared/mounted-store.ts'
import { answerClientErrors } from './client-error.ts'
import { type Connections, trackConnections } from './connections.ts'
import { nodeResponder } from './handler.ts'
import { sentHeader } from './messages.ts'

/** The options of {@link serve}. */
export interface ServeOptions extends HandlerOptions {
  /** The port to listen on; 0 for any free port. @default 3000 */
  readonly port?: number | undefined
  /** The IP address or host name to listen on. @default '127.0.0.1' */
  readonly host?: string | undefined
  /**
   * A check of the back end, as `readyCheck` returns it. With a check, the server responds to
   * `/health` and `/ready`. They need no key and are not counted. `/ready` returns 503 while a part
   * of the back end fails, and after `close` is called.
   * @default none
   */
  readonly checkReady?: ReadyCheck | undefined
  /**
   * How long `close` still accepts requests, in milliseconds. During this time, each response has
   * `Connection: close`, and a load balancer that polls `/ready` moves its requests to other
   * servers.
   * @default 0
   */
  readonly drainDelay?: number | undefined
  /**
   * How long `close` waits for unfinished responses after `drainDelay`, in milliseconds.
   * @default 10000
   */
  readonly closeTimeout?: number | undefined
  /** How long a connection may be idle before it is closed, in milliseconds. @default 120000 */
  readonly idleTimeout?: number | undefined
}

export const portNumber = wholeNumber(0, 65_535)

const serveOptions = optionsOf<ServeOptions>({
  ...handlerShape,
  port: z.optional(portNumber),
  host: z.optional(textThat((text) => text !== '', 'an IP address or a host name')),
  checkReady: z.optional(functionOf<ReadyCheck>()),
  drainDelay: z.optional(milliseconds),
  closeTimeout: z.optional(milliseconds),
  idleTimeout: z.optional(milliseconds),
})

/** A running server. */
export interface ServingPetStore {
  /** The server's URL, such as `http://127.0.0.1:3000`, without the base path. */
  readonly url: string
  /**
   * Keeps serving for `drainDelay`, then accepts no new connections. Resolves when all connections
   * are closed.
   */
  close(): Promise<void>
}

/**
 * Starts a server for a pet store.
 *
 * @throws {Error} Node's error, such as `EADDRINUSE`, if the server cannot listen;
 * {@link PetStoreError} `invalid_option` if the store or an option is invalid
 * @example
 * ```ts
 * import { createPetStore } from 'petstore-kit'
 * import { serve } from 'petstore-kit/node'
 *
 * const server = await serve(createPetStore(), { port: 0 })
 * console.log(server.url)
 * await server.close()
 * ```
 */
export async function serve(petStore: PetStore, given: ServeOptions = {}): Promise<ServingPetStore> {
  const options = parseOptions(serveOptions, given)
  const { port = 3000, host = '127.0.0.1', idleTimeout = 120_000, checkReady, trustProxy } = options
  const server = createServer({ requireHostHeader: false })
  const connections = trackConnections(server, options)
  const site = checkReady === undefined ? petStore : withSite(petStore, probeRoutes(checkReady, connections.isClosing))
  // 0 means no limit. With a limit, Node silently drops further headers, perhaps `Authorization`.
  // Their size is limited anyway.
  server.maxHeadersCount = 0
  // Without a timeout, a client that never reads its response would keep its connection forever.
  server.setTimeout(idleTimeout)
  // By default, Node closes an idle connection after 5 seconds. A proxy keeps it longer, and could
  // send a request just then.
  server.keepAliveTimeout = idleTimeout
  answerClientErrors(server, connections, petStore)
  handleAll(server, connections, nodeResponder(site, { trustProxy }))
  await once(server.listen(port, host), 'listening')
  // Without a listener, errors such as EMFILE would end the process, although the server can
  // continue after them.
  server.on('error', (error) => report(petStore, error, undefined))
  return { url: urlOf(server.address() as AddressInfo), close: connections.close }
}

/**
 * A host with an optional port (RFC 3986, section 3.2). Does not match two Host headers, which
 * `sentHeader` joins with ", ".
 */
const HOST = /^(?:\[[\w.~!$&'()*+,;=:-]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d*)?$/i

function handleAll(server: Server, { track }: Connections, respond: ReturnType<typeof nodeResponder>): void {
  const onRequest = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    track(outgoing)
    // Checked here, because Node accepts two Host headers, and its response to a missing Host has
    // no body (RFC 9112, section 3.2).
    const host = sentHeader(incoming, 'host') ?? (incoming.httpVersion === '1.1' ? undefined : '')
    const isRejected = host === undefined || !HOST.test(host)
    if (isRejected) outgoing.shouldKeepAlive = false
    const mounted = { target: originForm(incoming.url ?? '/'), mountPath: '' }
    void respond(incoming, outgoing, mounted, {
      readHeader: sentHeader,
      ...(isRejected && { rejection: 'bad_request' }),
    })
  }
  // For a request with an `Expect` header, Node emits `checkContinue` or `checkExpectation` instead
  // of `request`.
  for (const event of ['request', 'checkContinue', 'checkExpectation']) server.on(event, onRequest)
}

function urlOf({ address, family, port }: AddressInfo): string {
  const host = address === '::' || address === '0.0.0.0' ? 'localhost' : address
  return `http://${family === 'IPv6' && host !== 'localhost' ? `[${host}]` : host}:${port}`
}

/**
 * A handler for a page or a document outside the base path. It gets only GET and HEAD requests. If
 * it returns `undefined`, the pet store responds.
 */
export type SiteRoute = (request: ApiRequest, parameters: PathParameters) => MaybePromise<ApiResponse | undefined>

/** Handlers by their paths, in the notation of itty-router, such as `/page/:name`. */
export type SiteRoutes = Readonly<Record<string, SiteRoute>>

/** Adds routes that need no key and are not counted. */
export function withSite(petStore: PetStore, routes: SiteRoutes): PetStore {
  const router = IttyRouter()
  for (const [path, route] of Object.entries(routes))
    router.all(path, ({ params }, request: ApiRequest) => respond(route, request, params))
  const { basePath } = petStore

  const handle: PetStore['handle'] = async (request) => {
    const target = originForm(request.target)
    // `router.fetch` parses a URL for each request, which would slow down the API.
    const isOfApi = basePath !== '' && isBelow(pathOf(target), basePath)
    if (request.rejection !== undefined || isOfApi || !target.startsWith('/')) return petStore.handle(request)
    const response: ApiResponse | undefined = await router.fetch(
      { method: request.method, url: `http://localhost${target}` },
      request,
    )
    return response ?? petStore.handle(request)
  }
  return { ...petStore, handle }
}

async function respond(route: SiteRoute, request: ApiRequest, parameters: PathParameters) {
  const { method } = request
  if (method !== 'GET' && method !== 'HEAD') return { status: 405, headers: ['Allow', 'GET, HEAD'], body: '' }
  const response = await route(request, parameters)
  if (response === undefined) return undefined
  const headers = [...response.headers, 'X-Content-Type-Options', 'nosniff']
  return method === 'HEAD' ? { status: response.status, headers, body: '' } : { ...response, headers }
}

export function probeRoutes(checkReady: ReadyCheck, isClosing: () => boolean): SiteRoutes {
  return {
    '/health': () => jsonResponse(200, '{"status":"ok"}'),
    '/ready': async () => {
      if (isClosing()) return jsonResponse(503, '{"status":"closing","failing":[]}')
      const failing = await checkReady()
      const isReady = failing.length === 0
      return jsonResponse(isReady ? 200 : 503, JSON.stringify({ status: isReady ? 'ok' : 'unavailable', failing }))
    },
  }
}
