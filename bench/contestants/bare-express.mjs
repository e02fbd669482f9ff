import express from 'express'
import { ready } from './fixtures.mjs'
import { recordedResponses } from './recorded.mjs'

const find = await recordedResponses()
const app = express()

// Express adds `; charset=utf-8` to the content type. `send` instead of `end` would also add an ETag.
app.use((req, res) => {
  const write = () => {
    const { status, headers, body } = find(req.method, req.url, req.headers.authorization)
    res.status(status).set(headers).end(body)
  }
  if (req.method === 'GET') return write()
  req.on('data', () => {})
  req.on('end', write)
})
const server = app.listen(0, '127.0.0.1', () => ready(server.address().port))
