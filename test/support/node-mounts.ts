import * as http from 'node:http'
import * as http2 from 'node:http2'
import * as https from 'node:https'
import Fastify from 'fastify'
import { toExpressHandler } from '../../adapters/hosts/express.ts'
import { toFastifyPlugin } from '../../adapters/hosts/fastify.ts'
import { toNodeHandler } from '../../adapters/hosts/node/index.ts'
import type { KeyStore, PetStore } from '../../src/index.ts'

/** A customer in the database of an application. */
interface Customer {
  readonly id: string
  readonly company?: string
}

/** A key store as an application may write it. It must compile with `exactOptionalPropertyTypes`. */
export function keysOf(find: (token: string) => Promise<Customer | null>): KeyStore {
  return {
    async find(token) {
      const customer = await find(token)
      return customer && { id: customer.id, plan: 'pro', account: customer.company }
    },
  }
}

/** Mounts a store in several ways. This function never runs: the type checker compiles it with several versions of @types/node. */
export function mounts(petStore: PetStore, request: http.IncomingMessage, response: http.ServerResponse): unknown[] {
  const handler = toNodeHandler(petStore, { trustProxy: 1 })
  const server = Fastify()
  server.register(toFastifyPlugin, { petStore, prefix: '/shop' })
  handler(request, response)
  toExpressHandler(petStore)(request, response, () => {})
  return [
    http.createServer(handler),
    https.createServer({}, handler),
    http2.createServer(handler),
    http2.createSecureServer({ allowHTTP1: true }, handler),
    http.createServer().on('request', handler),
  ]
}
