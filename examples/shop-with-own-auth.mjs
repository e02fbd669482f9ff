// node examples/shop-with-own-auth.mjs
import express from 'express'
import { createPetStore } from 'petstore-kit'
import { toExpressHandler } from 'petstore-kit/express'

// The shop has its own customers and tokens. The pet store only asks the shop for the owner of a token and the owner's limits.
// In a real shop, use long random tokens: anyone can guess the tokens below.
const customers = new Map([
  ['acme-ada-1', { name: 'Ada', company: 'acme', tier: 'gold' }],
  ['acme-ben-2', { name: 'Ben', company: 'acme', tier: 'gold' }],
  ['solo-cleo-3', { name: 'Cleo', company: 'solo', tier: 'basic' }],
])

const plans = { gold: { perMinute: 600, perDay: 50_000 }, basic: { perMinute: 2, perDay: 100 } }
const petStore = createPetStore({
  basePath: '/api/v1',
  plans,
  keyStore: {
    find(token) {
      const customer = customers.get(token)
      return customer && { id: customer.name, account: customer.company, plan: customer.tier }
    },
  },
})

const app = express()
app.use(toExpressHandler(petStore))
app.get('/me', (request, response) => {
  const customer = customers.get(request.get('authorization')?.replace('Bearer ', '') ?? '')
  if (customer) response.json({ name: customer.name, company: customer.company })
  else response.sendStatus(401)
})

const port = Number(process.env.PORT ?? 3000)
app.listen(port, '127.0.0.1', () => {
  console.log(`curl -H 'Authorization: Bearer acme-ada-1' http://127.0.0.1:${port}/api/v1/pets`)
})
