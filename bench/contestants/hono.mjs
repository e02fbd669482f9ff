import { serve } from '@hono/node-server'
import { zValidator } from '@hono/zod-validator'
import { Hono } from 'hono'
import { bearerAuth } from 'hono/bearer-auth'
import { rateLimiter } from 'hono-rate-limiter'
import { isValidToken, limitOf, ready } from './fixtures.mjs'
import { errorBody, petArray } from './pets.mjs'
import { listQuery, newPet, petParams } from './schemas.mjs'

const pets = petArray()
const app = new Hono()

// hono-rate-limiter sends headers named `RateLimit-*`; the other servers send `X-RateLimit-*`.
app.use(
  rateLimiter({
    windowMs: 60_000,
    limit: (c) => limitOf(c.req.header('authorization')),
    standardHeaders: 'draft-6',
    keyGenerator: (c) => c.req.header('authorization') ?? '',
    message: errorBody(429, 'rate_limit_exceeded', 'Too many requests.'),
  }),
)
const message = errorBody(401, 'unauthorized', 'The API key is missing or invalid.')
app.use(bearerAuth({ verifyToken: isValidToken, noAuthenticationHeader: { message }, invalidToken: { message } }))
app.get('/v1/pets', zValidator('query', listQuery), (c) => {
  const { page, link } = pets.list(c.req.valid('query'))
  if (link) c.header('Link', link)
  return c.json(page)
})
app.post('/v1/pets', zValidator('json', newPet), (c) => c.json(pets.create(c.req.valid('json')), 201))
app.get('/v1/pets/:petId', zValidator('param', petParams), (c) => {
  const found = pets.get(c.req.valid('param').petId)
  return found ? c.json(found) : c.json(errorBody(404, 'not_found', 'There is no such animal.'), 404)
})
serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => ready(port))
