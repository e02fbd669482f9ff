import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as z from 'zod/mini'
import type { PetStore } from '../../../src/index.ts'
import { adapterFunctionsOf } from '../../../src/reports/adapter-functions.ts'
import { milliseconds, optionsOf, textThat, wholeNumber } from '../../../src/schemas/options.ts'
import { parseOption, parseOptions } from '../../../src/schemas/parse-options.ts'
import { type HandlerOptions, handlerShape, petStore as petStoreSchema, report } from '../shared/mounted-store.ts'
import { answerBrokenRequests } from './broken-requests.ts'
import { trackConnections } from './connections.ts'
import { toNodeHandler } from './handler.ts'
import { probeRoutes, withSite } from './site.ts'

/** The options of {@link serve}. */
export interface ServeOptions extends HandlerOptions {
  /** The port to listen on; 0 for any free port. @default 3000 */
  readonly port?: number | undefined
  /** The IP address or host name to listen on. @default '127.0.0.1' */
  readonly host?: string | undefined
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
 * Starts a server for a pet store. It also responds to `/health` and `/ready`, which need no key and
 * are not counted. `/ready` returns 503 while a part of the back end fails, and after `close` is
 * called.
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
  parseOption('petStore', petStoreSchema, petStore)
  const options = parseOptions(serveOptions, given)
  const { port = 3000, host = '127.0.0.1', idleTimeout = 120_000, trustProxy } = options
  const server = createServer()
  const { track, latestOn, isClosing, close } = trackConnections(server, options)
  const ready = petStore.ready?.bind(petStore)
  const site = ready ? withSite(petStore, probeRoutes(ready, isClosing)) : petStore
  const handler = toNodeHandler(site, { trustProxy })
  const { rejectRequest } = adapterFunctionsOf(petStore)
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    track(response)
    handler(request, response)
  }
  server.on('request', onRequest)
  // Without a listener, Node responds to an unknown `Expect` itself, without a body.
  server.on('checkExpectation', onRequest)
  answerBrokenRequests(server, latestOn, (code, socket) => rejectRequest(code, socket.remoteAddress))
  // 0 means no limit. With a limit, Node silently drops further headers, perhaps `Authorization`.
  // Their size is limited anyway.
  server.maxHeadersCount = 0
  // Without a timeout, a client that never reads its response would keep its connection forever.
  server.setTimeout(idleTimeout)
  // By default, Node closes an idle connection after 5 seconds. A proxy keeps it longer, and could
  // send a request just then.
  server.keepAliveTimeout = idleTimeout
  await once(server.listen(port, host), 'listening')
  // Without a listener, errors such as EMFILE would end the process, although the server can
  // continue after them.
  server.on('error', (error) => report(petStore, error, undefined))
  return { url: urlOf(server.address() as AddressInfo), close }
}

function urlOf({ address, family, port }: AddressInfo): string {
  const host = address === '::' || address === '0.0.0.0' ? 'localhost' : address
  return `http://${family === 'IPv6' && host !== 'localhost' ? `[${host}]` : host}:${port}`
}
