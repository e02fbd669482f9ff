// Runs the handler on this machine. Each request becomes an event like those of a Lambda function URL.
import { createServer } from 'node:http'
import { handler } from './dist/handler.js'

async function respond(request, response) {
  const { method, url, headers } = request
  const { pathname, search } = new URL(url, 'http://localhost')
  const bytes = Buffer.concat(await request.toArray())
  const sourceIp = headers['x-forwarded-for']?.split(',').at(-1).trim() ?? request.socket.remoteAddress
  const result = await handler({
    rawPath: pathname,
    rawQueryString: search.slice(1),
    headers,
    requestContext: { domainName: 'localhost', stage: '$default', http: { method, path: pathname, sourceIp } },
    ...(bytes.length > 0 && { body: bytes.toString('base64') }),
    isBase64Encoded: bytes.length > 0,
  })
  response.writeHead(result.statusCode, result.headers).end(result.body)
}

// If the handler throws, AWS responds with 502.
const server = createServer((request, response) =>
  respond(request, response).catch(() => response.writeHead(502).end()),
)
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1')
process.once('SIGTERM', () => server.close())
