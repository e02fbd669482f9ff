import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { expect, onTestFinished, test } from 'vitest'
import { referenceHtml } from '../../../../src/openapi/index.ts'

const docs = referenceHtml({ basePath: '/v1' })
const headers = { 'content-type': 'text/html; charset=utf-8' }

/** Starts a server on a free port of this machine, and returns the response to a request for `/docs`. */
async function responseOf(listener: RequestListener): Promise<Response> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/docs`)
}

const hosts: Readonly<Record<string, () => Promise<Response>>> = {
  'Node http': () =>
    responseOf((request, response) => {
      if (request.url === '/docs') response.writeHead(200, headers).end(docs)
    }),
  Express: () => {
    const app = express()
    app.get('/docs', (_request, response) => void response.type('html').send(docs))
    return responseOf(app)
  },
  Fastify: async () => {
    const app = fastify()
    app.get('/docs', (_request, reply) => reply.headers(headers).send(docs))
    await app.ready()
    return responseOf(app.routing)
  },
  Hono: async () => {
    const app = new Hono()
    app.get('/docs', (c) => c.html(docs))
    return app.request('/docs')
  },
}

test.each(Object.entries(hosts))('one line serves the reference on %s', async (_, respond) => {
  const response = await respond()
  expect(response.headers.get('content-type')).toMatch(/^text\/html; charset=utf-8$/i)
  expect(await response.text()).toBe(docs)
})
