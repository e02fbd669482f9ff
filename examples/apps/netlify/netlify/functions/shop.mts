import { createPetStore, memory } from 'petstore-kit'
import { toFetchHandler } from 'petstore-kit/fetch'

const backEnd = memory() // on Netlify, use a database: each instance has a memory of its own
const keyStore = {
  find: (token: string) => (token === process.env.PETSTORE_KEY ? { id: 'shop', plan: 'business' } : undefined),
}
const petStore = createPetStore({ ...backEnd, keyStore, cors: { origins: ['https://shop.example'] } })
const handler = toFetchHandler(petStore, { trustProxy: false }) // Netlify passes the address of the client

export default async function shop(request: Request, { ip }: { ip: string }): Promise<Response> {
  if (new URL(request.url).pathname !== '/') return handler(request, ip)
  const pets = await backEnd.storage.list({ limit: 3 })
  return new Response(`The shop itself has ${pets.map(({ name }) => name).join(', ')}`)
}

export const config = { path: ['/', '/v1', '/v1/*'] }
