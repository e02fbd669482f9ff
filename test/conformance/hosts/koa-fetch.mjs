import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import Koa from 'koa'
import { mountOf, ownRoute } from './fixtures.mjs'
import { listen } from './listen.mjs'

/** Builds a Request from a Koa context. Koa has no fetch handlers, but sends a Response if it is set as `context.body`. */
function toRequest({ req, method, href }) {
  const headers = req.rawHeaders.flatMap((name, i, all) => (i % 2 === 0 ? [[name, all[i + 1]]] : []))
  const body = method === 'GET' || method === 'HEAD' ? undefined : Readable.toWeb(req)
  return new Request(href, { method, headers, body, duplex: 'half' })
}

const app = new Koa()
app.use(async (context) => {
  const mount = mountOf(context.path)
  const own = await ownRoute(context.path)
  context.body = mount
    ? await mount.petStore.fetch(toRequest(context))
    : (own ?? new Response('not ours', { status: 404 }))
})
listen(createServer(app.callback()))
