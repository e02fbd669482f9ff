import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { mounts, ownRoute, whole } from './fixtures.mjs'
import { HOST, ready } from './listen.mjs'

const app = new Hono()
for (const path of ['/before', '/probe', '/issue']) app.get(path, async (c) => c.text(await ownRoute(path)))
for (const { petStore } of [...mounts, { petStore: whole }])
  app.all(`${petStore.basePath}/*`, (c) => petStore.fetch(c.req.raw))
app.get('/after', async (c) => c.text(await ownRoute('/after')))
app.notFound((c) => c.text('not ours', 404))
serve({ fetch: app.fetch, port: 0, hostname: HOST }, ({ port }) => ready(port))
