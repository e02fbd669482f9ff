import { once } from 'node:events'
import { createReadStream, readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { expect, onTestFinished, test } from 'vitest'
import { createPetStore } from '../../../src/index.ts'
import { openApiDocument, referenceHtml } from '../../../src/openapi/index.ts'

const petStore = createPetStore()
const openApi = openApiDocument(petStore)
const docs = referenceHtml(petStore, { scriptUrl: '/scalar.js' })
const scalar = createRequire(import.meta.url).resolve('@scalar/api-reference/browser/standalone.js')

/** Starts a server on a free port of this machine, and returns a function that sends a request to it. */
async function listening(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return (path: string) => fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`)
}

/** The lines of docs/mounting.md for hosts that run on Node. */
const hosts: Readonly<Record<string, () => Promise<(path: string) => Response | Promise<Response>>>> = {
  'Node http': () =>
    listening((request, response) => {
      if (request.url === '/openapi.json')
        response.setHeader('content-type', 'application/json').end(JSON.stringify(openApi))
      else if (request.url === '/docs') response.setHeader('content-type', 'text/html; charset=utf-8').end(docs)
      if (request.url === '/scalar.js')
        createReadStream(scalar).pipe(response.setHeader('content-type', 'text/javascript'))
    }),
  Express: () => {
    const app = express()
    app
      .get('/openapi.json', (_request, response) => void response.json(openApi))
      .get('/docs', (_request, response) => void response.type('html').send(docs))
    app.get('/scalar.js', (_request, response) => response.sendFile(scalar))
    return listening(app)
  },
  Fastify: async () => {
    const app = fastify()
    app.get('/openapi.json', () => openApi)
    app.get('/docs', (_request, reply) => reply.type('text/html; charset=utf-8').send(docs))
    app.get('/scalar.js', (_request, reply) => reply.type('text/javascript').send(createReadStream(scalar)))
    await app.ready()
    return listening(app.routing)
  },
  Hono: async () => {
    const app = new Hono()
    app.get('/openapi.json', (c) => c.json(openApi)).get('/docs', (c) => c.html(docs))
    app.get('/scalar.js', (c) => c.body(readFileSync(scalar), 200, { 'content-type': 'text/javascript' }))
    return (path) => app.request(path)
  },
}

test.each(Object.entries(hosts))('one line serves the reference, and one its viewer, on %s', async (_, start) => {
  const get = await start()
  expect(await (await get('/openapi.json')).json()).toEqual(openApi)
  const page = await get('/docs')
  expect(page.headers.get('content-type')).toMatch(/^text\/html; charset=utf-8$/i)
  expect(await page.text()).toBe(docs)
  const script = await get('/scalar.js')
  expect(script.headers.get('content-type')).toMatch(/javascript/)
  expect(await script.text()).toBe(readFileSync(scalar, 'utf8'))
})
