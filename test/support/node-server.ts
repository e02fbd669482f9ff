import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { type ServeOptions, type ServingPetStore, serve } from '../../adapters/hosts/node/index.ts'
import { createPetStore, memory, type PetStore, type PetStoreOptions } from '../../src/index.ts'
import { manualClock } from '../../src/testing/index.ts'

/** A store on a Node server. The server is closed at the end of the test. */
export interface TestServer extends ServingPetStore {
  readonly petStore: PetStore
  readonly token: string
  /** The Host and Authorization lines of a valid request, with line ends. */
  readonly authorized: string
}

/** Options of the server and its store. The keys and the clock cannot be changed. */
export interface TestServerOptions extends ServeOptions {
  readonly store?: PetStoreOptions
  readonly perMinute?: number
  /** Wraps the store, as a host may do. */
  readonly wrap?: (petStore: PetStore) => PetStore
}

/** Creates a store with one key. The limits of the key are high by default. */
export async function storeWithKey({ store = {}, perMinute = 1_000_000, wrap = same }: TestServerOptions = {}) {
  const clock = manualClock()
  const backEnd = memory({ clock })
  const limits = { perMinute, perDay: 10_000_000 }
  const { token } = await backEnd.keyStore.issue({ plan: 'enterprise', limits })
  const petStore = wrap(createPetStore({ ...backEnd, clock, anonymous: limits, ban: false, ...store }))
  return { petStore, token, authorized: `Host: a\r\nAuthorization: Bearer ${token}\r\n` }
}

/** Longer than any test waits, so that no test passes because the server closes an idle connection after a while. */
const HOUR = 3_600_000

/** Starts a server on a free port. */
export async function startServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { store: _store, perMinute: _perMinute, wrap: _wrap, ...serveOptions } = options
  const stored = await storeWithKey(options)
  const server = await serve(stored.petStore, { port: 0, closeTimeout: 1, idleTimeout: HOUR, ...serveOptions })
  onTestFinished(server.close)
  return { ...server, ...stored }
}

/** Starts a server of the host, or one for a listener of the host. Returns its URL. */
export async function startHost(host: Server | RequestListener): Promise<string> {
  const server = typeof host === 'function' ? createServer(host) : host
  onTestFinished(() => void server.close().closeAllConnections())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Returns the end of a request that creates an animal: headers and JSON body. */
export function petBody(json = '{"name":"Rex","categoryId":1}'): string {
  return `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`
}

/** Returns a promise and the function that resolves it. */
export function signalled<T = void>() {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

function same(petStore: PetStore): PetStore {
  return petStore
}

/** Makes the current test fail if an exception or rejection is not caught before the test ends. */
export function expectSilence(): void {
  const heard: unknown[] = []
  const listen = (error: unknown) => void heard.push(error)
  process.on('unhandledRejection', listen).on('uncaughtException', listen)
  onTestFinished(() => {
    process.off('unhandledRejection', listen).off('uncaughtException', listen)
    if (heard.length > 0) throw new Error(`not caught: ${heard.map(String).join('; ')}`)
  })
}
