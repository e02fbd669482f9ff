// npm install express helmet compression cors && node examples/express-middleware.mjs
import compression from 'compression'
import cors from 'cors'
import express from 'express'
import helmet from 'helmet'
import { createPetStore } from 'petstore-kit'
import { toExpressHandler } from 'petstore-kit/express'

const origins = ['https://shop.example']
const petStore = createPetStore({ cors: { origins } })
const { token } = await petStore.keys.issue({ plan: 'free' })

const app = express()
app.use(helmet(), compression(), cors({ origin: origins }))
app.use(express.json({ verify: (request, _response, bytes) => Object.assign(request, { rawBody: bytes }) }))
app.use('/shop', toExpressHandler(petStore))
app.get('/', (_request, response) => response.send('The shop itself'))

// Without this handler, Express responds to the errors of its parser with a page of HTML.
const codes = new Map([
  [400, 'malformed_json'],
  [413, 'payload_too_large'],
  [415, 'unsupported_media_type'],
])
/** @type {express.ErrorRequestHandler} */
const respondLikeTheStore = (error, _request, response, next) => {
  const { status, message } = error
  const code = codes.get(status)
  if (code === undefined || response.headersSent) return next(error)
  response.status(status).json({ code, message, status })
}
app.use('/shop/v1', respondLikeTheStore)

const port = Number(process.env.PORT ?? 3000)
app.listen(port, '127.0.0.1', () => {
  console.log(`curl -H 'Authorization: Bearer ${token}' http://127.0.0.1:${port}/shop/v1/pets`)
})
