import type { IncomingMessage, RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import { PassThrough } from 'node:stream'
import express from 'express'
import fc from 'fast-check'
import Fastify from 'fastify'
import { describe, expect, onTestFinished, test } from 'vitest'
import { toExpressHandler } from '../../../../adapters/hosts/express.ts'
import { toFastifyPlugin } from '../../../../adapters/hosts/fastify.ts'
import { toNodeHandler } from '../../../../adapters/hosts/node/index.ts'
import type { PetStore } from '../../../../src/index.ts'
import { petBody, startHost, startServer, storeWithKey } from '../../../support/node-server.ts'
import { type RawConnection, rawConnection } from '../../../support/raw-http.ts'

const express4 = createRequire(import.meta.url)('express4') as typeof express

/** Sends the pieces one by one, with time for the server to read each. */
async function sendInPieces({ socket, send }: RawConnection, text: string, cuts: readonly number[]): Promise<void> {
  const ends = [...new Set(cuts.map((cut) => cut % text.length))].sort((a, b) => a - b)
  for (const [i, end] of [...ends, text.length].entries()) {
    await send(text.slice(ends[i - 1] ?? 0, end))
    for (let turn = 0; turn < 3; turn++) await nextTurn()
  }
  expect(socket.destroyed).toBe(false)
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

test('a request that is cut into random pieces creates its animal', async () => {
  const { url, authorized } = await startServer()
  const connection = await rawConnection(url)
  const name = fc.string({ unit: fc.constantFrom('a', 'Z', '0', '-'), minLength: 1, maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(name, fc.array(fc.nat(), { maxLength: 6 }), async (name, cuts) => {
      const body = petBody(`{"name":"${name}","categoryId":1}`)
      await sendInPieces(connection, `POST /v1/pets HTTP/1.1\r\n${authorized}${body}`, cuts)
      const { status, body: added } = await connection.answer()
      expect([status, JSON.parse(added).name]).toEqual([201, name])
    }),
    { numRuns: 60 },
  )
})

/** Starts a host whose middleware gets each request before the store. Returns the URL. */
type StartHost = (petStore: PetStore, middleware: (request: IncomingMessage) => void) => Promise<string>

const onExpress =
  (make: typeof express): StartHost =>
  (petStore, middleware) => {
    const app = make().use((request, _response, next) => {
      middleware(request)
      next()
    })
    return startHost(app.use(toExpressHandler(petStore)) as RequestListener)
  }

const hosts: Readonly<Record<string, StartHost>> = {
  'Node http': (petStore, middleware) => {
    const handler = toNodeHandler(petStore)
    return startHost((request, response) => {
      middleware(request)
      handler(request, response)
    })
  },
  'Express 4': onExpress(express4),
  'Express 5': onExpress(express),
  Fastify: async (petStore, middleware) => {
    const server = Fastify()
    onTestFinished(() => server.close())
    server.addHook('onRequest', async ({ raw }) => middleware(raw))
    server.register(toFastifyPlugin, { petStore })
    return server.listen({ port: 0, host: '127.0.0.1' })
  },
}

const ignore = () => {}

const readers: Readonly<Record<string, (request: IncomingMessage) => void>> = {
  'listens to data': (request) => request.on('data', ignore),
  'has stopped to listen to data': (request) => request.on('data', ignore).off('data', ignore),
  'listens to readable': (request) => request.on('readable', ignore),
  'calls resume': (request) => request.resume(),
  'calls setEncoding': (request) => request.setEncoding('utf8'),
  'pipes the body': (request) => request.pipe(new PassThrough({ highWaterMark: 16 })),
}

const LIMIT = 8_000_000
/** An animal in a body of this many bytes. */
const bodyOf = (length: number) => '{"name":"Rex","categoryId":1}'.padEnd(length)

describe.each(Object.entries(hosts))('%s', (_host, start) => {
  /** Sends bodies just under and just over the limit, and returns each status with its code. */
  async function results(middleware: (request: IncomingMessage) => void): Promise<string[]> {
    const { petStore, token } = await storeWithKey({ store: { bodyLimit: LIMIT, onError: ignore } })
    const url = await start(petStore, middleware)
    const all: string[] = []
    for (const length of [29, LIMIT, LIMIT + 1])
      for (const isChunked of [false, true]) {
        const body = isChunked ? new Blob([bodyOf(length)]).stream() : bodyOf(length)
        const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
        const response = await fetch(`${url}/v1/pets`, { method: 'POST', headers, body, duplex: 'half' } as RequestInit)
        all.push(`${response.status} ${((await response.json()) as { code?: string }).code}`)
      }
    return all
  }

  test('accepts a body of 8,000,000 bytes, and rejects a longer body', async () => {
    const added = '201 undefined'
    const expected = [added, added, added, added, '413 payload_too_large', '413 payload_too_large']
    expect(await results(ignore)).toEqual(expected)
  })

  test.each(Object.entries(readers))('says that the body is read if the host %s', async (_what, read) => {
    const statuses = new Set(await results(read))
    statuses.delete('413 payload_too_large')
    expect([...statuses]).toEqual(['500 body_already_read'])
  })
})
