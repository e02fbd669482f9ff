import { createPetStore } from 'petstore-kit'
import { toFetchHandler } from 'petstore-kit/fetch'

const keyStore = {
  find: (token) => (token === process.env.PETSTORE_KEY ? { id: 'shop', plan: 'business' } : undefined),
}
// Next.js tells a route no address, so `trustProxy` is the number of proxies in front of it. Vercel counts as one.
const handler = toFetchHandler(createPetStore({ keyStore }), { trustProxy: 1 })

/** Next.js passes the parameters of the route as a second argument, which the handler would take for an address. */
const respond = (request) => handler(request)

export {
  respond as DELETE,
  respond as GET,
  respond as HEAD,
  respond as OPTIONS,
  respond as PATCH,
  respond as POST,
  respond as PUT,
}
