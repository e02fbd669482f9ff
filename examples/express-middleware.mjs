// npm install express helmet compression cors && node examples/express-middleware.mjs
import compression from 'compression'
import cors from 'cors'
import express from 'express'
import helmet from 'helmet'
import { createPetStore, memory } from 'petstore-kit'
import { toExpressHandler } from 'petstore-kit/express'

const backEnd = memory()
const { token } = await backEnd.keyStore.issue({ plan: 'free' })

const app = express()
const origins = ['https://shop.example']
const keepBytes = (request, _response, bytes) => {
  request.rawBody = bytes
}
app.use(helmet(), compression(), cors({ origin: origins }), express.json({ verify: keepBytes }))
app.use('/shop', toExpressHandler(createPetStore({ ...backEnd, cors: { origins } })))
app.get('/', (_request, response) => response.send('The shop itself'))

// Without this handler, Express responds to the errors of its parser with a page of HTML.
const codes = { 400: 'malformed_json', 413: 'payload_too_large', 415: 'unsupported_media_type' }
app.use('/shop/v1', (error, _request, response, next) => {
  const { status, message } = error
  if (codes[status] === undefined || response.headersSent) return next(error)
  response.status(status).json({ code: codes[status], message, status })
})

const server = app.listen(process.env.PORT ?? 3000, '127.0.0.1', () => {
  const { port } = server.address()
  console.log(`curl -H 'Authorization: Bearer ${token}' http://127.0.0.1:${port}/shop/v1/pets`)
})
