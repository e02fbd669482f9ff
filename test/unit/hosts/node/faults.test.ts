import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { type HandlerOptions, toNodeHandler } from '../../../../adapters/hosts/node/index.ts'
import { expectSilence, storeWithKey } from '../../../support/node-server.ts'
import { rawConnection, rawRequest } from '../../../support/raw-http.ts'

beforeEach(expectSilence)

const boom = () => {
  throw new Error('boom: secret')
}
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
  test.each(['writeHead', 'end'] as const)('closes the connection if response.%s throws', async (name) => {
    const { url, authorized } = await hostServer((_req, res, go) => {
      Object.assign(res, { [name]: boom })
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
