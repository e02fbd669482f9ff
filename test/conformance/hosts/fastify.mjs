import Fastify from 'fastify'
import { toFastifyPlugin } from 'petstore-kit/fastify'
import { below, mounts, ownRoute, passedOn } from './fixtures.mjs'
import { HOST, ready } from './listen.mjs'

const server = Fastify({ forceCloseConnections: true })
for (const path of ['/before', '/probe', '/issue']) server.get(path, () => ownRoute(path))
for (const { petStore, options } of mounts) server.register(toFastifyPlugin, { petStore, ...options })
server.register(toFastifyPlugin, { petStore: below, prefix: '/shop' })
server.get('/after', () => ownRoute('/after'))
server.post('/own', (request) => request.body)
server.setNotFoundHandler((_request, reply) => {
  passedOn()
  reply.code(404).send('not ours')
})
await server.listen({ port: 0, host: HOST })
ready(server.server.address().port)
