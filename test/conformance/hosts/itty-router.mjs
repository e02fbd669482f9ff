import { serve } from '@hono/node-server'
import { IttyRouter } from 'itty-router'
import { mounts, ownRoute, whole } from './fixtures.mjs'
import { HOST, ready } from './listen.mjs'

const router = IttyRouter()
for (const path of ['/before', '/probe', '/issue']) router.get(path, async () => new Response(await ownRoute(path)))
for (const { petStore } of [...mounts, { petStore: whole }]) router.all(`${petStore.basePath}/*`, petStore.fetch)
router.get('/after', async () => new Response(await ownRoute('/after')))
router.all('*', () => new Response('not ours', { status: 404 }))
serve({ fetch: router.fetch, port: 0, hostname: HOST }, ({ port }) => ready(port))
