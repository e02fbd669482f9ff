import { serve } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import { Hono } from 'hono'
import { filledStore, importKit, ready } from './fixtures.mjs'

const { toApiRequest, toResponse } = await importKit()
const { petStore, tokens } = await filledStore()
const app = new Hono()
app.all('/v1/*', async (c) => {
  const request = toApiRequest(c.req.raw, getConnInfo(c).remote.address)
  return toResponse(await petStore.handle(request))
})
serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => ready(port, tokens))
