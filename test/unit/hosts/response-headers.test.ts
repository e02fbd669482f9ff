import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import express from 'express'
import Fastify from 'fastify'
import { describe, expect, onTestFinished, test } from 'vitest'
import { toExpressHandler } from '../../../adapters/hosts/express.ts'
import { toFastifyPlugin } from '../../../adapters/hosts/fastify.ts'
import { toNodeHandler } from '../../../adapters/hosts/node/index.ts'
import { mergeHeaders } from '../../../adapters/hosts/node/response.ts'
import { createPetStore, type PetStore } from '../../../src/index.ts'

/** The store as the host has wrapped it: each response sets two cookies. */
const inner = createPetStore()
const petStore: PetStore = {
  ...inner,
  async handle(request) {
    const response = await inner.handle(request)
    return { ...response, headers: [...response.headers, 'Set-Cookie', 'a=1', 'Set-Cookie', 'b=2'] }
  },
}

const compression = createRequire(import.meta.url)('compression') as (options: object) => express.RequestHandler

const setHostHeaders = (response: Pick<ServerResponse, 'setHeader'>) => {
  response.setHeader('Set-Cookie', 'host=1')
  response.setHeader('WWW-Authenticate', 'Basic realm="host"')
  response.setHeader('Vary', 'Accept-Language')
}

async function listen(server: ReturnType<typeof createServer>): Promise<string> {
  server.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const hosts: Record<string, () => Promise<string>> = {
  'Node http': () => {
    const handler = toNodeHandler(petStore)
    return listen(
      createServer((request, response) => {
        setHostHeaders(response)
        handler(request, response)
      }),
    )
  },
  Express: () => {
    const app = express().use((_request, response, next) => {
      setHostHeaders(response)
      next()
    })
    return listen(createServer(app.use(toExpressHandler(petStore))))
  },
  'Express behind compression': () => {
    const app = express().use(compression({ threshold: 0 }), (_request, response, next) => {
      setHostHeaders(response)
      next()
    })
    return listen(createServer(app.use(toExpressHandler(petStore))))
  },
  Fastify: async () => {
    const server = Fastify()
    server.addHook('onRequest', async (_request, reply) => {
      reply
        .header('Set-Cookie', 'host=1')
        .header('WWW-Authenticate', 'Basic realm="host"')
        .header('Vary', 'Accept-Language')
    })
    server.register(toFastifyPlugin, { petStore })
    onTestFinished(() => server.close())
    return server.listen({ port: 0, host: '127.0.0.1' })
  },
}

describe.each(Object.entries(hosts))('%s', (_, start) => {
  test("keeps repeated headers and the host's headers", async () => {
    const { headers } = await fetch(`${await start()}/v1/pets`)
    expect(headers.getSetCookie()).toEqual(['host=1', 'a=1', 'b=2'])
    expect(headers.get('www-authenticate')).toBe('Basic realm="host", Bearer realm="petstore"')
    expect(headers.get('vary')).toContain('Accept-Language')
    expect(headers.get('content-type')).toBe('application/json')
  })
})

test.each([
  [['Vary', 'Origin'], 'Accept, origin', 'Accept, origin'],
  [['Vary', 'Origin'], '*', '*'],
  [['Vary', 'Origin'], undefined, 'Origin'],
])("merges the store's headers %j and the host's %s into %s", (headers, ofHost, expected) => {
  expect(mergeHeaders(headers, () => ofHost)).toEqual({ Vary: expected })
})
