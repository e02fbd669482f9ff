import { bearer } from '@elysiajs/bearer'
import { Elysia, t } from 'elysia'
import { rateLimit } from 'elysia-rate-limit'
import { isValidToken, limitOf, ready, STATUSES } from './fixtures.mjs'
import { errorBody, petArray } from './pets.mjs'

const pets = petArray()
const literals = STATUSES.map((status) => t.Literal(status))
const status = t.Union(literals)
const listQuery = t.Object({
  limit: t.Integer({ minimum: 1, maximum: 100, default: 20 }),
  status: t.Optional(status),
  cursor: t.Integer({ minimum: 0, default: 0 }),
})
const newPet = t.Object({
  name: t.String({ minLength: 1, maxLength: 1000 }),
  categoryId: t.Integer(),
  status: t.Union(literals, { default: 'available' }),
})

const app = new Elysia({ normalize: true })
  // Elysia responds to invalid requests with 422 by default.
  .onError(({ code, status }) => {
    if (code === 'VALIDATION') return status(400, errorBody(400, 'invalid_request', 'The request is invalid.'))
  })
  // The plugin sends its own headers, `RateLimit-*`, instead of `X-RateLimit-*`.
  .use(
    rateLimit({
      duration: 60_000,
      max: (key) => limitOf(key),
      generator: (request) => request.headers.get('authorization') ?? '',
      errorResponse: Response.json(errorBody(429, 'rate_limit_exceeded', 'Too many requests.'), { status: 429 }),
      scoping: 'global',
    }),
  )
  .use(bearer())
  .onBeforeHandle(({ bearer, set, status }) => {
    if (bearer !== undefined && isValidToken(bearer)) return
    set.headers['WWW-Authenticate'] = 'Bearer'
    return status(401, errorBody(401, 'unauthorized', 'The API key is missing or invalid.'))
  })
  .get(
    '/v1/pets',
    ({ query, set }) => {
      const { page, link } = pets.list(query)
      if (link) set.headers.Link = link
      return page
    },
    { query: listQuery },
  )
  .post('/v1/pets', ({ body, status }) => status(201, pets.create(body)), { body: newPet })
  .get(
    '/v1/pets/:petId',
    ({ params, status }) =>
      pets.get(params.petId) ?? status(404, errorBody(404, 'not_found', 'There is no such animal.')),
    { params: t.Object({ petId: t.Integer() }) },
  )
  .listen({ port: 0, hostname: '127.0.0.1' })
ready(app.server.port)
