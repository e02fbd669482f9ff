// node examples/shop-with-own-auth.mjs
import express from 'express'
import { createPetStore } from 'petstore-kit'
import { toExpressHandler } from 'petstore-kit/express'

// The shop has its own customers and tokens. The pet store only asks the shop for the owner of a token and the owner's limits.
// Use long random tokens: anyone can guess these.
const customers = [
  { name: 'Ada', company: 'acme', token: 'acme-ada-1', tier: 'gold' },
  { name: 'Ben', company: 'acme', token: 'acme-ben-2', tier: 'gold' },
  { name: 'Cleo', company: 'solo', token: 'solo-cleo-3', tier: 'basic' },
]
const bySecret = (secret) => customers.find(({ token }) => token === secret)

const keyStore = {
  find(token) {
    const customer = bySecret(token)
    return customer && { id: customer.name, account: customer.company, plan: customer.tier }
  },
}
const plans = { gold: { perMinute: 600, perDay: 50_000 }, basic: { perMinute: 2, perDay: 100 } }

const app = express()
app.use(toExpressHandler(createPetStore({ keyStore, plans, basePath: '/api/v1' })))
app.get('/me', (request, response) => {
  const customer = bySecret(request.get('authorization')?.replace('Bearer ', ''))
  if (customer) response.json({ name: customer.name, company: customer.company })
  else response.sendStatus(401)
})

const server = app.listen(process.env.PORT ?? 3000, '127.0.0.1', () => {
  const { port } = server.address()
  console.log(`curl -H 'Authorization: Bearer acme-ada-1' http://127.0.0.1:${port}/api/v1/pets`)
})
