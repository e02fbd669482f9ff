import { toFetchHandler } from 'petstore-kit/fetch'
import { petStore } from '../../../lib/server/pet-store.js'

const handler = toFetchHandler(petStore, { trustProxy: 1 })

export const trailingSlash = 'ignore'
export const fallback = ({ request, getClientAddress }) => handler(request, getClientAddress())
