import { Server } from 'node:http'
import Fastify from 'fastify'
import { expect, onTestFinished, test, vi } from 'vitest'
import { toBunHandler } from '../../../adapters/hosts/bun.ts'
import { toDenoHandler } from '../../../adapters/hosts/deno.ts'
import { toFastifyPlugin } from '../../../adapters/hosts/fastify.ts'
import { toFetchHandler } from '../../../adapters/hosts/fetch.ts'
import type { TrustProxy } from '../../../adapters/hosts/node/index.ts'
import { type ApiResponse, createPetStore, type PetStore } from '../../../src/index.ts'
import { startServer } from '../../support/node-server.ts'
import { rawConnection, rawRequest } from '../../support/raw-http.ts'

interface Options {
  readonly trustProxy?: TrustProxy
}
type Send = (headers: Record<string, string>) => Promise<unknown>

const url = 'http://localhost/v1/pets'

/** Mounts a store on each host. Returns a function that sends a request. */
const hosts: Record<string, (petStore: PetStore, options: Options) => Promise<Send>> = {
  async serve(petStore, options) {
    const { url } = await startServer({ wrap: () => petStore, ...options })
    return (headers) => fetch(`${url}/v1/pets`, { headers })
  },
  async toFastifyPlugin(petStore, { trustProxy }) {
    const server = Fastify(trustProxy === undefined ? {} : { trustProxy: () => trustProxy !== false })
    onTestFinished(() => void server.close())
    server.register(toFastifyPlugin, { petStore })
    const address = await server.listen({ port: 0 })
    return (headers) => fetch(`${address}/v1/pets`, { headers })
  },
  async toBunHandler(petStore, options) {
    const handler = toBunHandler(petStore, options)
    return async (headers) => handler(new Request(url, { headers }), { requestIP: () => null })
  },
  async toDenoHandler(petStore, options) {
    const handler = toDenoHandler(petStore, options)
    return async (headers) => handler(new Request(url, { headers }), { remoteAddr: {} })
  },
  async toFetchHandler(petStore, options) {
    const handler = toFetchHandler(petStore, options)
    return async (headers) => handler(new Request(url, { headers }))
  },
}

/** Returns a store and the errors that its `onError` gets. */
function watchedStore() {
  const onError = vi.fn()
  return { petStore: createPetStore({ onError }), onError }
}

const broken: [string, () => Promise<ApiResponse>][] = [
  ['a rejection', () => Promise.reject(new Error('of the host'))],
  ['a response that cannot be written', async () => ({ status: 200, headers: ['X-A', 'a\r\nb'], body: '' })],
]

test.each(Object.keys(hosts).flatMap((host) => broken.map(([what, handle]) => [host, what, handle] as const)))(
  '%s calls onError if the result of a wrapped handle is %s',
  async (host, _what, handle) => {
    const { petStore, onError } = watchedStore()
    const send = await hosts[host]?.({ ...petStore, handle }, { trustProxy: false })
    expect(await send?.({})).toMatchObject({ status: 500 })
    expect(onError.mock.calls).toEqual([[expect.any(Error), { method: 'GET', target: '/v1/pets' }]])
  },
)

/** The hosts that read the headers by our option, not by a setting of their own. */
const ownReaders = Object.entries(hosts).filter(([host]) => host !== 'toFastifyPlugin')

const forwardings = ownReaders.flatMap(([host]): [string, Record<string, string>][] => [
  [host, { 'x-forwarded-for': '203.0.113.7' }],
  [host, { forwarded: 'for=203.0.113.7' }],
])

test.each(forwardings)('%s reports %j once if trustProxy is unset', async (host, headers) => {
  const { petStore, onError } = watchedStore()
  const send = await hosts[host]?.(petStore, {})
  await send?.({})
  expect(onError).not.toHaveBeenCalled()
  await send?.(headers)
  await send?.({ 'x-forwarded-for': '203.0.113.8' })
  expect(onError.mock.calls).toEqual([
    [
      expect.objectContaining({
        code: 'untrusted_forwarded_for',
        message: expect.stringMatching(/trustProxy.*https:.*behind-a-proxy/),
      }),
      {},
    ],
  ])
})

test.each(ownReaders)('%s reports once that the two headers contradict each other', async (_host, mount) => {
  const { petStore, onError } = watchedStore()
  const send = await mount(petStore, { trustProxy: 1 })
  const headers = { 'x-forwarded-for': '203.0.113.7', forwarded: 'for=203.0.113.8' }
  for (let i = 0; i < 2; i++) await send(headers)
  const message = expect.stringContaining('X-Forwarded-For and Forwarded, which contradict each other')
  expect(onError.mock.calls).toEqual([[expect.objectContaining({ code: 'untrusted_forwarded_for', message }), {}]])
})

test.each(Object.entries(hosts))('%s ignores X-Forwarded-For if trustProxy is false', async (_host, mount) => {
  const { petStore, onError } = watchedStore()
  const send = await mount(petStore, { trustProxy: false })
  await send({ 'x-forwarded-for': '203.0.113.7' })
  expect(onError).not.toHaveBeenCalled()
})

test('serve reports an error of its server after listen', async () => {
  const listen = vi.spyOn(Server.prototype, 'listen')
  const onError = vi.fn()
  const { url } = await startServer({ store: { onError } })
  const error = Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' })
  ;(listen.mock.contexts[0] as Server).emit('error', error)
  expect(onError.mock.calls).toEqual([[error, { method: undefined, target: undefined }]])
  expect((await rawRequest(url, 'GET /v1/pets HTTP/1.1\r\nHost: a\r\n\r\n')).status).toBe(401)
})

test('serve does not report a client that disconnects', async () => {
  const onError = vi.fn()
  let failed = () => {}
  const failure = new Promise<void>((resolve) => {
    failed = resolve
  })
  // Rejects when the signal aborts, as a wrapper does if it passes the signal to `fetch`.
  const handle: PetStore['handle'] = (request) =>
    new Promise((_resolve, reject) => {
      connected()
      request.signal?.addEventListener('abort', () => {
        reject(new Error('aborted'))
        setImmediate(failed)
      })
    })
  let connected = () => {}
  const arrived = new Promise<void>((resolve) => {
    connected = resolve
  })
  const { url } = await startServer({ store: { onError }, wrap: (petStore) => ({ ...petStore, handle }) })
  const connection = await rawConnection(url)
  await connection.send('GET /v1/pets HTTP/1.1\r\nHost: a\r\n\r\n')
  await arrived
  connection.leave()
  await failure
  expect(onError).not.toHaveBeenCalled()
})

test('logs to the console if a wrapper is no copy of a store', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  const { basePath, fetch } = createPetStore()
  const error = new Error('of the host')
  const handler = toBunHandler({ basePath, fetch, handle: () => Promise.reject(error) })
  await handler(new Request(url), { requestIP: () => null })
  expect(log).toHaveBeenCalledWith(expect.stringContaining('petstore-kit: GET /v1/pets failed: Error: of the host\n'))
})
