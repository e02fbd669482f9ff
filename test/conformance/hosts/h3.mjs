import { fromWebHandler, H3, serve } from 'h3'
import { mounts, ownRoute, whole } from './fixtures.mjs'
import { HOST, ready } from './listen.mjs'

const app = new H3()
for (const path of ['/before', '/probe', '/issue']) app.get(path, () => ownRoute(path))
for (const { petStore } of [...mounts, { petStore: whole }])
  app.all(`${petStore.basePath}/**`, fromWebHandler(petStore.fetch))
app.get('/after', () => ownRoute('/after'))
app.all('/**', () => new Response('not ours', { status: 404 }))
const server = serve(app, { port: 0, hostname: HOST, silent: true })
await server.ready()
ready(server.node.server.address().port)
