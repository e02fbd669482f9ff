import express from 'express'
import { rateLimit } from 'express-rate-limit'
import { isValidToken, limitOf, ready } from './fixtures.mjs'
import { errorBody, petArray } from './pets.mjs'
import { listQuery, newPet, petParams } from './schemas.mjs'

const pets = petArray()
const app = express()

app.use(
  rateLimit({
    windowMs: 60_000,
    limit: (req) => limitOf(req.headers.authorization),
    legacyHeaders: true,
    standardHeaders: false,
    keyGenerator: (req) => req.headers.authorization ?? '',
    message: errorBody(429, 'rate_limit_exceeded', 'Too many requests.'),
  }),
)
app.use((req, res, next) => {
  const [scheme, token] = req.headers.authorization?.split(' ') ?? []
  if (scheme === 'Bearer' && isValidToken(token)) return next()
  res.set('WWW-Authenticate', 'Bearer')
  res.status(401).json(errorBody(401, 'unauthorized', 'The API key is missing or invalid.'))
})
app.use(express.json())

/** Returns a middleware that validates a part of the request with a zod schema. */
const validate = (part, schema) => (req, res, next) => {
  const { success, data, error } = schema.safeParse(req[part])
  if (!success) return res.status(400).json(errorBody(400, 'invalid_request', error.message))
  res.locals[part] = data
  next()
}
app.get('/v1/pets', validate('query', listQuery), (_req, res) => {
  const { page, link } = pets.list(res.locals.query)
  if (link) res.set('Link', link)
  res.json(page)
})
app.post('/v1/pets', validate('body', newPet), (_req, res) => res.status(201).json(pets.create(res.locals.body)))
app.get('/v1/pets/:petId', validate('params', petParams), (_req, res) => {
  const found = pets.get(res.locals.params.petId)
  if (found) res.json(found)
  else res.status(404).json(errorBody(404, 'not_found', 'There is no such animal.'))
})
const server = app.listen(0, '127.0.0.1', () => ready(server.address().port))
