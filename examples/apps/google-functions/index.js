import { http } from '@google-cloud/functions-framework'
import { createPetStore, memory } from 'petstore-kit'
import { toExpressHandler } from 'petstore-kit/express'

const backEnd = memory() // on Google Cloud, use a database: each instance has a memory of its own
const petStore = createPetStore({
  ...backEnd,
  keyStore: {
    find: (token) => (token === process.env.PETSTORE_KEY ? { id: 'shop', plan: 'business' } : undefined),
  },
  cors: { origins: ['https://shop.example'] },
})
const handler = toExpressHandler(petStore, { trustProxy: 1 })

http('shop', (request, response) =>
  handler(request, response, async () => {
    if (request.path !== '/') return response.sendStatus(404)
    const pets = await backEnd.storage.list({ limit: 3 })
    response.send(`The shop itself has ${pets.map(({ name }) => name).join(', ')}`)
  }),
)
