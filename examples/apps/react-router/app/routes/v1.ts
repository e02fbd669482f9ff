import { toFetchHandler } from 'petstore-kit/fetch'
import { petStore } from '../pet-store.server'

const handler = toFetchHandler(petStore, { trustProxy: 1 })

/** React Router calls the loader for GET, HEAD and OPTIONS, and the action for every other method. */
const respond = ({ request }: { request: Request }) => handler(request)

export { respond as action, respond as loader }
