import { createServer } from 'node:http'
import { ready } from './fixtures.mjs'
import { recordedResponses } from './recorded.mjs'

const find = await recordedResponses()

const handler = (req, res) => {
  const write = () => {
    const { status, flat, body } = find(req.method, req.url, req.headers.authorization)
    res.writeHead(status, flat)
    res.end(body)
  }
  if (req.method === 'GET') return write()
  req.on('data', () => {})
  req.on('end', write)
}
const server = createServer(handler)
server.listen(0, '127.0.0.1', () => ready(server.address().port))
