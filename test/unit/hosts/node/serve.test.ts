import { Server } from 'node:http'
import { networkInterfaces } from 'node:os'
import { beforeEach, expect, test, vi } from 'vitest'
import { serve } from '../../../../adapters/hosts/node/index.ts'
import { expectSilence, startServer, storeWithKey } from '../../../support/node-server.ts'
import { rawConnection } from '../../../support/raw-http.ts'

beforeEach(expectSilence)

test('serve rejects a port in use with EADDRINUSE', async () => {
  const { url, petStore } = await startServer()
  await expect(serve(petStore, { port: Number(new URL(url).port) })).rejects.toMatchObject({ code: 'EADDRINUSE' })
})

test.each([
  ['port', 'x'],
  ['host', ''],
  ['host', 5],
  ['closeTimeout', -1],
  ['idleTimeout', 'x'],
  ['trustproxy', 1],
])('serve names the option %s in the error about %j', async (name, value) => {
  const { petStore } = await storeWithKey()
  await expect(serve(petStore, { port: 0, [name]: value })).rejects.toMatchObject({
    code: 'invalid_option',
    message: expect.stringMatching(`^option ${name}: expected `),
  })
})

test.each([
  [undefined, 120_000],
  [65_000, 65_000],
])('with idleTimeout %s, connections may be idle for %i milliseconds', async (idleTimeout, expected) => {
  const listen = vi.spyOn(Server.prototype, 'listen')
  await startServer({ idleTimeout })
  const { timeout, keepAliveTimeout } = listen.mock.contexts.at(-1) as Server
  expect([timeout, keepAliveTimeout]).toEqual([expected, expected])
})

const hasIPv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'))

test.each([
  [undefined, '127.0.0.1'],
  ['127.0.0.1', '127.0.0.1'],
  ['0.0.0.0', 'localhost'],
  ...(hasIPv6 ? [['::', 'localhost'] as const, ['::1', '[::1]'] as const] : []),
] as const)('serve on host %s returns a reachable URL', async (host, name) => {
  const { url } = await startServer({ host })
  expect(url).toMatch(/^http:\/\/[^/]+:\d+$/)
  expect(new URL(url).hostname).toBe(name)
  expect((await fetch(`${url}/v1/pets`)).status).toBe(401)
})

test('serve describes an unknown expectation in the body', async () => {
  const { url, authorized } = await startServer()
  const connection = await rawConnection(url)
  await connection.send(`GET /v1/pets HTTP/1.1\r\n${authorized}Expect: tea\r\n\r\n`)
  const { status, body } = await connection.answer()
  expect([status, JSON.parse(body).code]).toEqual([417, 'expectation_failed'])
})

test('serve responds to OPTIONS * with 204', async () => {
  const { url, authorized } = await startServer()
  const connection = await rawConnection(url)
  await connection.send(`OPTIONS * HTTP/1.1\r\n${authorized}\r\n`)
  expect((await connection.answer()).status).toBe(204)
})
