import rateLimit from '@fastify/rate-limit'
import Fastify from 'fastify'
import { limitOf, ready, STATUSES, TOKENS } from './fixtures.mjs'
import { errorBody, petArray } from './pets.mjs'

const pets = petArray()
const app = Fastify()
const status = { type: 'string', enum: STATUSES }
const newPet = { name: { type: 'string', minLength: 1, maxLength: 1000 }, categoryId: { type: 'integer' }, status }
const petSchema = { type: 'object', properties: { id: { type: 'integer' }, ...newPet } }

await app.register(rateLimit, {
  max: (req) => limitOf(req.headers.authorization),
  timeWindow: '1 minute',
  keyGenerator: (req) => req.headers.authorization ?? req.ip,
})
// A `Map` is faster than `@fastify/bearer-auth`, which compares a token with one key after another.
const keys = new Map(Object.entries(TOKENS).map(([owner, token]) => [`Bearer ${token}`, owner]))
app.addHook('onRequest', (req, reply, done) => {
  if (keys.has(req.headers.authorization)) return done()
  reply.code(401).header('WWW-Authenticate', 'Bearer')
  reply.send(errorBody(401, 'unauthorized', 'The API key is missing or invalid.'))
})

const listQuery = {
  type: 'object',
  properties: {
    limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    status,
    cursor: { type: 'integer', minimum: 0, default: 0 },
  },
}
app.get(
  '/v1/pets',
  { schema: { querystring: listQuery, response: { 200: { type: 'array', items: petSchema } } } },
  async (req, reply) => {
    const { page, link } = pets.list(req.query)
    if (link) reply.header('Link', link)
    return page
  },
)
app.post(
  '/v1/pets',
  {
    schema: {
      body: {
        type: 'object',
        required: ['name', 'categoryId'],
        properties: { ...newPet, status: { ...status, default: 'available' } },
      },
      response: { 201: petSchema },
    },
  },
  async (req, reply) => reply.code(201).send(pets.create(req.body)),
)
app.get(
  '/v1/pets/:petId',
  { schema: { params: { type: 'object', properties: { petId: { type: 'integer' } } }, response: { 200: petSchema } } },
  async (req, reply) => {
    const found = pets.get(req.params.petId)
    return found ?? reply.code(404).send(errorBody(404, 'not_found', 'There is no such animal.'))
  },
)
await app.listen({ port: 0, host: '127.0.0.1' })
ready(app.server.address().port)
