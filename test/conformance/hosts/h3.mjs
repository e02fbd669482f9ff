import { getRequestIP, H3, serve } from 'h3'
import { toFetchHandler } from 'petstore-kit/fetch'
import { mounts, ownRoute, whole } from './fixtures.mjs'
import { HOST, ready } from './listen.mjs'

const app = new H3()
for (const path of ['/before', '/probe', '/issue']) app.get(path, () => ownRoute(path))
for (const { petStore, options } of [...mounts, { petStore: whole }]) {
  const handler = toFetchHandler(petStore, options)
  app.all(`${petStore.basePath}/**`, (event) => handler(event.req, getRequestIP(event)))
}
app.get('/after', () => ownRoute('/after'))
app.all('/**', () => new Response('not ours', { status: 404 }))
const server = serve(app, { port: 0, hostname: HOST, silent: true })
await server.ready()
ready(server.node.server.address().port)
