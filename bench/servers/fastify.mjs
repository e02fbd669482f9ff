import bearerAuth from '@fastify/bearer-auth'
import rateLimit from '@fastify/rate-limit'
import Fastify from 'fastify'
import { endWith, LIMITS, PETS, pet, ready } from '../fixtures.mjs'

const token = 'pet_0123456789'
const app = Fastify()
const pets = Array.from({ length: PETS }, (_, i) => ({ id: i + 1, ...pet(i) }))
const status = { type: 'string', enum: ['available', 'pending', 'sold'] }
const newPet = { name: { type: 'string', minLength: 1 }, categoryId: { type: 'integer' }, status }
const petSchema = { type: 'object', properties: { id: { type: 'integer' }, ...newPet } }

await app.register(rateLimit, {
  max: LIMITS.perMinute,
  timeWindow: '1 minute',
  keyGenerator: (req) => req.headers.authorization,
})
await app.register(bearerAuth, { keys: new Set([token]) })
app.get(
  '/v1/pets',
  {
    schema: {
      querystring: {
        type: 'object',
        properties: { limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 }, status },
      },
      response: { 200: { type: 'array', items: petSchema } },
    },
  },
  async (req, reply) => {
    reply.header('Link', '</v1/pets?cursor=MToyMA>; rel="next"')
    return pets.slice(0, req.query.limit)
  },
)
app.post(
  '/v1/pets',
  {
    schema: {
      body: { type: 'object', required: ['name', 'categoryId'], properties: newPet },
      response: { 201: petSchema },
    },
  },
  async (req, reply) => {
    const created = { id: pets.length + 1, status: 'available', ...req.body }
    pets.push(created)
    return reply.code(201).send(created)
  },
)
await app.listen({ port: 0, host: '127.0.0.1' })
endWith()
ready(app.server.address().port, token)
