import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { ready } from './fixtures.mjs'
import { recordedResponses } from './recorded.mjs'

const find = await recordedResponses()
const app = new Hono()

app.all('/v1/*', async (c) => {
  if (c.req.method !== 'GET') await c.req.arrayBuffer()
  const { status, headers, body } = find(c.req.method, c.req.path, c.req.header('authorization'))
  // `c.body(body, status, headers)` would take longer, because it creates a `Headers` object.
  return new Response(body, { status, headers })
})
serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => ready(port))
