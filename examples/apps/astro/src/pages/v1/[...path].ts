import type { APIRoute } from 'astro'
import { toFetchHandler } from 'petstore-kit/fetch'
import { petStore } from '../../lib/pet-store'

const handler = toFetchHandler(petStore, { trustProxy: 1 })

export const ALL: APIRoute = ({ request, clientAddress }) => handler(request, clientAddress)
