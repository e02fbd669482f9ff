import { Elysia } from 'elysia'
import { toBunHandler } from 'petstore-kit/bun'
import { mounts, ownRoute, whole } from './fixtures.mjs'
import { HOST, ready } from './listen.mjs'

const app = new Elysia()
for (const path of ['/before', '/probe', '/issue']) app.get(path, () => ownRoute(path))
for (const { petStore, options } of [...mounts, { petStore: whole }]) {
  const handler = toBunHandler(petStore, options)
  // In Elysia, `/v1/*` does not match `/v1`.
  for (const path of [petStore.basePath, `${petStore.basePath}/*`])
    app.all(path, ({ request, server }) => handler(request, server), { parse: () => 1 })
}
app.get('/after', () => ownRoute('/after'))
app.all('/*', () => new Response('not ours', { status: 404 }))
app.listen({ port: 0, hostname: HOST }, ({ port }) => ready(port))
