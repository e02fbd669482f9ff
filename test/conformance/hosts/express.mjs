import { createServer } from 'node:http'
import compression from 'compression'
import cors from 'cors'
import helmet from 'helmet'
import morgan from 'morgan'
import multer from 'multer'
import { createPetStore, memory } from 'petstore-kit'
import { toExpressHandler } from 'petstore-kit/express'
import { below, mounts, ownRoute, passedOn, whole } from './fixtures.mjs'
import { listen } from './listen.mjs'

/** Starts an app of Express 4 or 5, with the stores mounted in every way that Express offers. */
export function shop(express, wildcard) {
  const app = express()
  const log = []
  app.get(['/before', '/probe', '/issue'], async (request, response) => response.send(await ownRoute(request.path)))
  app.get('/log', (_request, response) => response.json(log))
  for (const { petStore, options = {} } of mounts) {
    // An app of its own has its own setting.
    const mount = 'trustProxy' in options ? express().set('trust proxy', options.trustProxy) : app
    mount.use(toExpressHandler(petStore))
    if (mount !== app) app.use(mount)
  }
  app.use('/shop', toExpressHandler(below))
  app.use('/shop', toExpressHandler(whole))
  mountInRouters(app, express, wildcard)
  mountBehindParsers(app, express)
  mountBehindMiddlewares(app, log)
  app.get('/after', async (request, response) => response.send(await ownRoute(request.path)))
  app.use((_request, response) => {
    passedOn()
    response.status(404).send('not ours')
  })
  app.use((error, _request, response, _next) => response.status(500).send(`own handler: ${error.message}`))
  listen(createServer(app))
}

function fresh(basePath = '/v1') {
  return toExpressHandler(
    createPetStore({ ...memory(), keyStore: { find: (token) => ({ id: token, plan: 'business' }) }, basePath }),
  )
}

function mountInRouters(app, express, wildcard) {
  app.use('/router/:tenant', express.Router({ mergeParams: true }).use('/inner', fresh()))
  app.all(`/wild${wildcard}`, fresh('/wild/v1'))
  app.use('/exact/v1', fresh('/exact/v1'))
  app.use((request, _response, next) => {
    request.url = request.url.replace(/^\/old\//, '/rewritten/')
    next()
  })
  app.use(fresh('/rewritten/v1'))
  app.use('/tracked', (request, _response, next) => {
    request.url = decodeURIComponent(request.url.replace(/utm_\w+=[^&]*&?/, ''))
    next()
  })
  app.use('/tracked', fresh())
  app.use('/renamed', (request, _response, next) => {
    request.url = request.url.replace('animals', 'pets').replace('per_page', 'limit')
    next()
  })
  app.use('/renamed', fresh('/renamed/v1'))
}

/** Middleware that a host may run on a body before the store gets the request. Each is mounted at its name, such as `/json`. */
const parsers = (express) => ({
  json: express.json(),
  kept: express.json({
    verify: (request, _response, bytes) => {
      request.rawBody = bytes
    },
  }),
  keptText: express.json({
    verify: (request, _response, bytes) => {
      request.rawBody = bytes.toString()
    },
  }),
  urlencoded: express.urlencoded({ extended: true }),
  raw: express.raw({ type: '*/*' }),
  text: express.text({ type: '*/*' }),
  multer: multer().any(),
  unmatched: express.json({ type: 'application/vnd.none' }),
  consumed: (request, _response, next) => request.resume().on('end', next),
  halfRead: (request, _response, next) =>
    request.once('data', () => {
      request.pause()
      next()
    }),
  paused: (request, _response, next) => {
    request.pause()
    next()
  },
})

function mountBehindParsers(app, express) {
  for (const [name, parser] of Object.entries(parsers(express))) app.use(`/${name}`, parser, fresh())
}

function mountBehindMiddlewares(app, log) {
  const all = [
    compression({ threshold: 0 }),
    helmet(),
    morgan(':method :url :status', { stream: { write: (line) => log.push(line.trim()) } }),
    cors({ origin: 'https://shop.example', credentials: true }),
  ]
  for (const [index, name] of ['compression', 'helmet', 'morgan', 'cors'].entries())
    app.use(`/with-${name}`, all[index], fresh())
  app.use('/everything', ...all, fresh())
}
