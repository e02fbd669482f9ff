import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import compression from 'compression'
import express from 'express'
import Fastify from 'fastify'
import { createPetStore } from 'petstore-kit'
import { toExpressHandler } from 'petstore-kit/express'
import { toFastifyPlugin } from 'petstore-kit/fastify'
import { toNodeHandler } from 'petstore-kit/node'

// If a Node server runs in Deno, an upload that is rejected unread must not close the connection.
const petStore = createPetStore()
const fastify = Fastify()
await fastify.register(toFastifyPlugin, { petStore }).ready()
const hosts = {
  'Node http': toNodeHandler(petStore),
  'Express, with compression': express().use(compression(), toExpressHandler(petStore)),
  Fastify: fastify.routing,
}

for (const [name, handler] of Object.entries(hosts)) {
  const server = createServer(handler).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect(server.address().port, '127.0.0.1')
  client.write(`POST /v1/pets HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\n\r\n${'a'.repeat(900_000)}`)
  client.write('GET /v1/pets HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  let output = ''
  let responses = []
  client.on('data', (bytes) => {
    output += bytes
    responses = output.match(/HTTP\/1.1 \d+/g) ?? []
    if (responses.length === 2) client.destroy()
  })
  await once(client, 'close')
  console.log(`${name}: ${responses.join(', ')}`)
}
Deno.exit()
