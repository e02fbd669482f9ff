import Fastify from 'fastify'
import { ready } from './fixtures.mjs'
import { recordedResponses } from './recorded.mjs'

const find = await recordedResponses()
const app = Fastify()

// Unlike the recorded response, Fastify's has `; charset=utf-8` in the content type.
const handler = async (request, reply) => {
  const { status, headers, body } = find(request.method, request.url, request.headers.authorization)
  return reply.code(status).headers(headers).send(body)
}
app.route({ method: ['GET', 'POST'], url: '/v1/*', handler })
await app.listen({ port: 0, host: '127.0.0.1' })
ready(app.server.address().port)
