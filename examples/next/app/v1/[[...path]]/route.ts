import { toFetchHandler } from 'petstore-kit/fetch'
import { petStore } from '../../../lib/pet-store'

// A route does not get the client's address, so `trustProxy` is the number of proxies in front of Next.js. Vercel counts as one.
const handler = toFetchHandler(petStore, { trustProxy: 1 })

/** Next.js passes the parameters of the route as a second argument, which the handler would take for an address. */
const respond = (request: Request) => handler(request)

export {
  respond as DELETE,
  respond as GET,
  respond as HEAD,
  respond as OPTIONS,
  respond as PATCH,
  respond as POST,
  respond as PUT,
}
