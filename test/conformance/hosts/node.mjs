import { createServer } from 'node:http'
import { toNodeHandler } from 'petstore-kit/node'
import { below, mounts, ownRoute, passedOn, whole } from './fixtures.mjs'
import { listen } from './listen.mjs'

const handlers = [...mounts, { petStore: whole }].map(({ petStore, options }) => toNodeHandler(petStore, options))

/** Calls the handlers one after another, as middleware frameworks do. */
function handle(request, response, index = 0) {
  const handler = handlers[index]
  if (handler) return handler(request, response, () => handle(request, response, index + 1))
  passedOn()
  response.writeHead(404).end('not ours')
}

const shop = toNodeHandler(below)

/** Removes the prefix from `url` and keeps the whole path in `originalUrl`, as routers do. */
function handleShop(request, response) {
  request.originalUrl = request.url
  request.url = request.url.slice('/shop'.length)
  shop(request, response)
}

listen(
  createServer(async (request, response) => {
    const own = await ownRoute(request.url.split('?')[0])
    if (own !== undefined) response.end(own)
    else if (request.url.startsWith('/shop/') && request.headers['x-whole'] === undefined) handleShop(request, response)
    else handle(request, response)
  }),
)
