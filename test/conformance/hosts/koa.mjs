import { createServer } from 'node:http'
import Koa from 'koa'
import { toNodeHandler } from 'petstore-kit/node'
import { mounts, ownRoute, passedOn, whole } from './fixtures.mjs'
import { listen } from './listen.mjs'

const app = new Koa()
app.use(async (context, next) => {
  const own = context.path === '/after' ? undefined : await ownRoute(context.path)
  if (own === undefined) await next()
  else context.body = own
})
for (const { petStore, options } of [...mounts, { petStore: whole }]) {
  const handler = toNodeHandler(petStore, options)
  app.use((context, next) => {
    context.respond = false
    return handler(context.req, context.res, () => {
      context.respond = true
      return next()
    })
  })
}
app.use(async (context) => {
  const own = await ownRoute(context.path)
  if (own === undefined) passedOn()
  context.status = own === undefined ? 404 : 200
  context.body = own ?? 'not ours'
})
listen(createServer(app.callback()))
