import { toFetchHandler } from 'petstore-kit/fetch'
import { petStore } from '../../../lib/server/pet-store'
import type { RequestHandler } from './$types'

const handler = toFetchHandler(petStore, { trustProxy: 1 })

export const trailingSlash = 'ignore'
export const fallback: RequestHandler = ({ request, getClientAddress }) => handler(request, getClientAddress())
