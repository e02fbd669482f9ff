import { toBunHandler } from 'petstore-kit/bun'
import { toFetch } from './fixtures.mjs'
import { HOST, ready } from './listen.mjs'

const server = Bun.serve({
  port: 0,
  hostname: HOST,
  fetch: toFetch(({ petStore, options }) => toBunHandler(petStore, options)),
})
ready(server.port)
