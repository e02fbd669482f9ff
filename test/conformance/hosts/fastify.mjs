import { createServer } from 'node:http'
import Fastify from 'fastify'
import { toFastifyPlugin } from 'petstore-kit/fastify'
import { below, mounts, ownRoute, passedOn } from './fixtures.mjs'
import { HOST, ready } from './listen.mjs'

/** Servers that trust proxies, each with the store for which it does. */
const trusting = []
for (const { petStore, options } of mounts) {
  if (options === undefined) continue
  const { trustProxy } = options
  // Fastify trusts no proxy if the option is a number, but passes the number of hops to a function.
  const trusts = typeof trustProxy === 'number' ? (_address, hop) => hop < trustProxy : trustProxy
  const { routing } = await Fastify({ trustProxy: trusts }).register(toFastifyPlugin, { petStore }).ready()
  trusting.push({ start: `${petStore.basePath}/`, routing })
}
const serverFactory = (handler) =>
  createServer((request, response) => {
    const own = trusting.find(({ start }) => request.url.startsWith(start))
    if (own) own.routing(request, response)
    else handler(request, response)
  })

const server = Fastify({ forceCloseConnections: true, serverFactory })
for (const path of ['/before', '/probe', '/issue']) server.get(path, () => ownRoute(path))
for (const { petStore, options } of mounts) if (options === undefined) server.register(toFastifyPlugin, { petStore })
server.register(toFastifyPlugin, { petStore: below, prefix: '/shop' })
server.get('/after', () => ownRoute('/after'))
server.post('/own', (request) => request.body)
server.setNotFoundHandler((_request, reply) => {
  passedOn()
  reply.code(404).send('not ours')
})
await server.listen({ port: 0, host: HOST })
ready(server.server.address().port)
