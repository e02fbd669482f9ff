import { toDenoHandler } from 'petstore-kit/deno'
import { toFetch } from './fixtures.mjs'
import { HOST, ready } from './listen.mjs'

Deno.serve(
  { port: 0, hostname: HOST, onListen: ({ port }) => ready(port) },
  toFetch(({ petStore, options }) => toDenoHandler(petStore, options)),
)
