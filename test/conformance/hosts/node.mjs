import { createServer } from 'node:http'
import { toNodeHandler } from 'petstore-kit/node'
import { below, mounts, ownRoute, passedOn, whole } from './fixtures.mjs'
import { listen } from './listen.mjs'

const doors = [...mounts, { petStore: whole }].map(({ petStore, options }) => toNodeHandler(petStore, options))

/** Middlewares one after the other, as frameworks of Node's kind run them. */
function handle(request, response, index = 0) {
  const door = doors[index]
  if (door) return door(request, response, () => handle(request, response, index + 1))
  passedOn()
  response.writeHead(404).end('not ours')
}

const shop = toNodeHandler(below)

/** A router's way: it takes its prefix off `url`, and leaves the whole in `originalUrl`. */
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
