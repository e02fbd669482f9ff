import { defineHandler, getRequestIP } from 'nitro/h3'
import { toFetchHandler } from 'petstore-kit/fetch'
import { petStore } from '../../lib/pet-store'

const handler = toFetchHandler(petStore, { trustProxy: 1 })

export default defineHandler((event) => handler(event.req, getRequestIP(event)))
