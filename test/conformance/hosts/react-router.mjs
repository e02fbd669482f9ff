import { createServer } from 'node:http'
import { createRequestListener } from '@remix-run/node-fetch-server'
import { toFetchHandler } from 'petstore-kit/fetch'
import { toFetch } from './fixtures.mjs'
import { listen } from './listen.mjs'

// The server under React Router 8. A loader gets no address of the connection, which the tests of addresses need.
const respond = toFetch(({ petStore, options }) => toFetchHandler(petStore, options))
listen(createServer(createRequestListener((request, { address }) => respond(request, address))))
