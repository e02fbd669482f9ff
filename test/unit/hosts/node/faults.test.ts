import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { type HandlerOptions, toNodeHandler } from '../../../../adapters/hosts/node/index.ts'
import { memory, type PetStorage, type PetStore, PetStoreError } from '../../../../src/index.ts'
import { expectSilence, petBody, startServer, storeWithKey } from '../../../support/node-server.ts'
import { rawConnection, rawRequest } from '../../../support/raw-http.ts'

beforeEach(expectSilence)

const boom = () => {
  throw new Error('boom: secret')
}
const handles: [string, PetStore['handle']][] = [
  ['handle rejects', async () => boom()],
  ['handle throws immediately', boom],
  // A wrapper may call another service with the client of this package, and pass on its error.
  ['handle rejects with network_error', () => Promise.reject(new PetStoreError('network_error'))],
  ['handle rejects with nothing', () => Promise.reject(undefined)],
  ['handle returns a header with a line break', async () => ({ status: 200, headers: ['X-A', 'a\r\nb'], body: '' })],
  ['handle returns a header without a name', async () => ({ status: 200, headers: ['', 'a'], body: '' })],
  ['handle returns an invalid status', async () => ({ status: 7, headers: [], body: '' })],
]

describe('a failing handle', () => {
  test.each(handles)('responds with 500 and keeps the connection: %s', async (_how, broken) => {
    const wrap = (petStore: PetStore): PetStore => ({
      ...petStore,
      handle: (request) => (request.target.endsWith('broken') ? broken(request) : petStore.handle(request)),
    })
    const { url, authorized } = await startServer({ wrap })
    const connection = await rawConnection(url)
    await connection.send(`POST /v1/pets?broken HTTP/1.1\r\n${authorized}${petBody()}`)
    const answer = await connection.answer()
    expect(answer.status).toBe(500)
    expect(JSON.parse(answer.body)).toMatchObject({ code: 'internal_error', status: 500 })
    expect(answer.body).not.toContain('secret')
    await connection.send(`GET /v1/pets HTTP/1.1\r\n${authorized}\r\n`)
    expect((await connection.answer()).status).toBe(200)
  })
})

describe('a failing storage', () => {
  const failing: [string, Partial<PetStorage>][] = [
    ['storage throws', { list: boom, create: boom }],
    ['storage rejects', { list: async () => boom(), create: async () => boom() }],
  ]
  test.each(failing)('responds with 500 and rate-limit headers: %s', async (_how, broken) => {
    const { storage } = memory()
    const { url, authorized } = await startServer({ store: { storage: { ...storage, ...broken } } })
    const connection = await rawConnection(url)
    await connection.send(
      `GET /v1/pets HTTP/1.1\r\n${authorized}\r\nPOST /v1/pets HTTP/1.1\r\n${authorized}${petBody()}`,
    )
    for (let i = 0; i < 2; i++) {
      const answer = await connection.answer()
      expect(answer.status).toBe(500)
      expect(answer.headers['x-ratelimit-limit']).toBeDefined()
    }
    await connection.send(`GET /v1/pets/7 HTTP/1.1\r\n${authorized}\r\n`)
    expect((await connection.answer()).status).toBe(404)
  })
})

/** Starts a Node server that runs `middleware` before the handler. */
async function hostServer(
  middleware: (...host: [...Parameters<RequestListener>, () => void]) => void,
  options?: HandlerOptions,
) {
  const { petStore, authorized } = await storeWithKey()
  const handler = toNodeHandler(petStore, options)
  const server = createServer((req, res) => middleware(req, res, () => handler(req, res))).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close().closeAllConnections())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, authorized }
}

describe('a failing host', () => {
  test.each(['writeHead', 'setHeader', 'end'] as const)('closes the connection if response.%s throws', async (name) => {
    const { url, authorized } = await hostServer((_req, res, go) => {
      Object.assign(res, { [name]: boom, ...(name === 'setHeader' && { writeHead: res.writeHead.bind(res) }) })
      go()
    })
    const connection = await rawConnection(url)
    await connection.send(`GET /v1/pets HTTP/1.1\r\n${authorized}\r\n`)
    await connection.closed()
  })

  test('closes the connection if response.end throws after the headers were sent', async () => {
    const { url, authorized } = await hostServer((_req, res, go) => {
      res.end = () => {
        res.flushHeaders()
        throw new Error('of the host')
      }
      go()
    })
    const connection = await rawConnection(url)
    await connection.send(`GET /v1/pets HTTP/1.1\r\n${authorized}\r\n`)
    await connection.closed()
  })

  test('a response that the host has sent is not changed', async () => {
    const { url, authorized } = await hostServer((_req, res, go) => {
      res.writeHead(418, ['Content-Length', '3']).end('tea')
      go()
    })
    expect(await rawRequest(url, `GET /v1/pets HTTP/1.1\r\n${authorized}\r\n`)).toMatchObject({
      status: 418,
      body: 'tea',
    })
  })

  test('calls next for requests outside the base path', async () => {
    const { petStore, authorized } = await storeWithKey()
    const handler = toNodeHandler(petStore)
    const server = createServer((req, res) => handler(req, res, () => res.writeHead(204).end())).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close().closeAllConnections())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const statusOf = async (target: string) =>
      (await rawRequest(url, `GET ${target} HTTP/1.1\r\n${authorized}\r\n`)).status
    expect(await statusOf('/elsewhere')).toBe(204)
    expect(await statusOf('/v1x/pets')).toBe(204)
    expect(await statusOf('*')).toBe(204)
    expect(await statusOf('//v1/pets')).toBe(204)
    expect(await statusOf('/v1')).toBe(404)
    expect(await statusOf('/v1/pets')).toBe(200)
    expect(await statusOf('http://b/v1/pets')).toBe(200)
  })
})

test('the handler does not end a response that the host has begun', async () => {
  const { url } = await hostServer((_req, res, go) => {
    res.writeHead(418, ['Content-Length', '3']).write('t')
    go()
    setImmediate(() => setImmediate(() => res.end('ea')))
  })
  expect(await rawRequest(url, 'GET /v1/pets HTTP/1.1\r\nHost: a\r\n\r\n')).toMatchObject({ status: 418, body: 'tea' })
})
