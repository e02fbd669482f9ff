import { serve } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import { Hono } from 'hono'
import { toFetchHandler } from 'petstore-kit/fetch'
import { mounts, ownRoute, whole } from './fixtures.mjs'
import { HOST, ready } from './listen.mjs'

const app = new Hono()
for (const path of ['/before', '/probe', '/issue']) app.get(path, async (c) => c.text(await ownRoute(path)))
for (const { petStore, options } of [...mounts, { petStore: whole }]) {
  const handler = toFetchHandler(petStore, options)
  app.all(`${petStore.basePath}/*`, (c) => handler(c.req.raw, getConnInfo(c).remote.address))
}
app.get('/after', async (c) => c.text(await ownRoute('/after')))
app.notFound((c) => c.text('not ours', 404))
serve({ fetch: app.fetch, port: 0, hostname: HOST }, ({ port }) => ready(port))
