import { createPetStore, memory } from 'petstore-kit'
import { toFetchHandler } from 'petstore-kit/fetch'

const backEnd = memory() // on Vercel, use a database: each instance has a memory of its own
const keyStore = {
  find: (token: string) => (token === process.env.PETSTORE_KEY ? { id: 'shop', plan: 'business' } : undefined),
}
const petStore = createPetStore({ ...backEnd, keyStore, cors: { origins: ['https://shop.example'] } })
// Vercel replaces X-Forwarded-For with the address of the client.
const handler = toFetchHandler(petStore, { trustProxy: 1 })

export default {
  async fetch(request: Request) {
    const { pathname } = new URL(request.url)
    if (pathname === '/v1' || pathname.startsWith('/v1/')) return handler(request)
    if (pathname !== '/') return new Response('Not found', { status: 404 })
    const pets = await backEnd.storage.list({ limit: 3 })
    return new Response(`The shop itself has ${pets.map(({ name }) => name).join(', ')}`)
  },
}
