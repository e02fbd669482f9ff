import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import express from 'express'
import fc from 'fast-check'
import Fastify from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { toExpressHandler } from '../../../adapters/hosts/express.ts'
import { toFastifyPlugin } from '../../../adapters/hosts/fastify.ts'
import { serve, toNodeHandler } from '../../../adapters/hosts/node/index.ts'
import { memory, type PetStore } from '../../../src/index.ts'
import { petBody, storeWithKey } from '../../support/node-server.ts'
import { rawConnection } from '../../support/raw-http.ts'
import { readResponses } from './responses.ts'

/**
 * To repeat the requests of a failed test, set `FUZZ_SEED` to its seed. To try more requests, increase `FUZZ_RUNS`:
 * `FUZZ_SEED=123 FUZZ_RUNS=1000 npx vitest run test/integration/attack/pipelining.test.ts`.
 */
const seed = Number(process.env.FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31))
const RUNS = Number(process.env.FUZZ_RUNS ?? 150)

interface Piece {
  readonly method: string
  readonly bytes: string
  readonly status: number
}

const JSON_TYPE = 'Content-Type: application/json\r\n'
const CHUNKED = `${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\n`
const PET = '{"name":"Rex","categoryId":1}'
const chunks = (text: string) => `${text.length.toString(16)};a=b\r\n${text}\r\n0\r\nT: x\r\n\r\n`

/** Requests after which the connection stays open. `key` is a whole `Authorization` line. */
const whole = (key: string): Piece[] =>
  [
    ['GET', `/v1/pets?limit=2 HTTP/1.1\r\nHost: a\r\n${key}\r\n`, 200],
    ['GET', '/v1/pets HTTP/1.1\r\nHost: a\r\n\r\n', 401],
    ['GET', `/v1/none HTTP/1.1\r\nHost: a\r\n${key}\r\n`, 404],
    ['HEAD', `/v1/pets HTTP/1.1\r\nHost: a\r\n${key}\r\n`, 200],
    ['OPTIONS', `/v1/pets HTTP/1.1\r\nHost: a\r\n${key}\r\n`, 204],
    ['DELETE', `/v1/pets HTTP/1.1\r\nHost: a\r\n${key}Content-Length: 5\r\n\r\nhello`, 405],
    ['POST', `/v1/pets HTTP/1.1\r\nHost: a\r\n${key}${petBody()}`, 201],
    ['POST', `/v1/pets HTTP/1.1\r\nHost: a\r\n${key}Expect: 100-continue\r\n${petBody()}`, 201],
    ['POST', `/v1/pets HTTP/1.1\r\nHost: a\r\n${key}${CHUNKED}${chunks(PET)}`, 201],
    ['POST', `/v1/pets HTTP/1.1\r\nHost: a\r\n${key}${CHUNKED}${chunks('[')}`, 400],
    ['POST', `/v1/pets HTTP/1.1\r\nHost: a\r\n${petBody()}`, 401],
    ['POST', `/v1/pets HTTP/1.1\r\nHost: a\r\n${CHUNKED}${chunks(PET)}`, 401],
  ].map(([method, rest, status]) => ({ method, bytes: `${method} ${rest}`, status })) as Piece[]

const lastOf = (key: string): Piece => ({
  method: 'GET',
  bytes: `GET /v1/pets HTTP/1.1\r\nHost: a\r\n${key}Connection: close\r\n\r\n`,
  status: 200,
})

interface Host {
  readonly url: string
  close(): unknown
}

async function listen(listener: RequestListener): Promise<Host> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, close: () => server.close().closeAllConnections() }
}

const hosts: Readonly<Record<string, (petStore: PetStore) => Promise<Host>>> = {
  serve: (petStore) => serve(petStore, { port: 0, closeTimeout: 1 }),
  toNodeHandler: (petStore) => listen(toNodeHandler(petStore)),
  toExpressHandler: (petStore) => listen(express().use(toExpressHandler(petStore))),
  toFastifyPlugin: async (petStore) => {
    const app = Fastify()
    await app.register(toFastifyPlugin, { petStore })
    return { url: await app.listen({ port: 0, host: '127.0.0.1' }), close: () => app.close() }
  },
}

/** Returns a store whose ports respond after some turns of the event loop. */
function slowStore() {
  const { storage } = memory()
  const later =
    <Input, T>(call: (input: Input) => T | Promise<T>, turns: number) =>
    async (input: Input) => {
      for (let i = 0; i < turns; i++) await setImmediate()
      return call(input)
    }
  return storeWithKey({
    store: { storage: { list: later(storage.list, 2), create: later(storage.create, 3), get: storage.get } },
  })
}

/** Writes the bytes in parts, each followed by some turns of the event loop. Returns all bytes that the server sends. */
async function exchange(url: string, bytes: string, parts: readonly (readonly [length: number, turns: number])[]) {
  const connection = await rawConnection(url)
  let received = ''
  connection.socket.on('data', (data) => {
    received += data.toString('latin1')
  })
  let rest = bytes
  for (const [length, turns] of [...parts, [bytes.length, 0] as const]) {
    void connection.send(rest.slice(0, length))
    rest = rest.slice(length)
    for (let i = 0; i < turns; i++) await setImmediate()
  }
  await connection.closed()
  connection.leave()
  return received
}

for (const [name, start] of Object.entries(hosts)) {
  test(`${name} responds to pipelined requests in order, and once`, async ({ annotate }) => {
    await annotate(`FUZZ_SEED=${seed}`)
    const { petStore, token } = await slowStore()
    const { url, close } = await start(petStore)
    onTestFinished(async () => void (await close()))
    const key = `Authorization: Bearer ${token}\r\n`
    const pieces = fc.array(fc.constantFrom(...whole(key)), { maxLength: 8 })
    const length = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 20, max: 400 }))
    const parts = fc.array(fc.tuple(length, fc.nat(12)), { maxLength: 25 })
    const run = fc.asyncProperty(pieces, parts, async (before, parts) => {
      const requests = [...before, lastOf(key)]
      const bytes = requests.map(({ bytes }) => bytes).join('')
      const received = await exchange(url, bytes, parts)
      const responses = readResponses(
        received,
        requests.map(({ method }) => method),
      )
      expect(responses.map(({ status }) => status)).toEqual(requests.map(({ status }) => status))
    })
    await fc.assert(run, { numRuns: RUNS, seed })
  })
}
