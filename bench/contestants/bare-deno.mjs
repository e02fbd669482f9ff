import { ready } from './fixtures.mjs'
import { recordedResponses } from './recorded.mjs'

const find = await recordedResponses()

const respond = (request) => {
  const path = request.url.slice(request.url.indexOf('/', 8))
  const { status, headers, body } = find(request.method, path, request.headers.get('authorization'))
  return new Response(body, { status, headers })
}
Deno.serve({ port: 0, hostname: '127.0.0.1', onListen: ({ port }) => ready(port) }, (request) =>
  request.method === 'GET' ? respond(request) : request.arrayBuffer().then(() => respond(request)),
)
