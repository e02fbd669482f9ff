import { toFetchHandler } from 'petstore-kit/fetch'

const handler = toFetchHandler(petStore, { trustProxy: 1 })

export default defineEventHandler((event) => handler(toWebRequest(event), getRequestIP(event)))
