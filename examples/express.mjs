// node examples/express.mjs
import express from 'express'
import { createPetStore } from 'petstore-kit'
import { toExpressHandler } from 'petstore-kit/express'

const petStore = createPetStore()
const { token } = await petStore.keys.issue({ plan: 'free' })

const app = express()
// Mount the store before body parsers, so that it reads the bodies itself.
app.use('/shop', toExpressHandler(petStore))
app.use(express.json())
app.get('/', (_request, response) => response.send('The shop itself'))

const port = Number(process.env.PORT ?? 3000)
app.listen(port, '127.0.0.1', () => {
  console.log(`curl -H 'Authorization: Bearer ${token}' http://127.0.0.1:${port}/shop/v1/pets`)
})
