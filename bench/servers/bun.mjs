import { toBunHandler } from 'petstore-kit/bun'
import { createdText, endWith, filledStore, LIMITS, PETS, pageText, ready } from '../fixtures.mjs'

const { petStore, token } = await filledStore()
const list = pageText(20)
let count = PETS

/** Returns the response that the store would return, but does none of its work. */
const respond = (status, body, link) => {
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }
  if (link) headers.Link = '</v1/pets?cursor=MToyMA>; rel="next"'
  headers['X-RateLimit-Limit'] = String(LIMITS.perMinute)
  headers['X-RateLimit-Remaining'] = '999999999'
  headers['X-RateLimit-Reset'] = '1795251060'
  return new Response(body, { status, headers })
}
const bare = (request) =>
  request.method === 'GET'
    ? respond(200, list, true)
    : request.arrayBuffer().then(() => respond(201, createdText(count++), false))

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: process.argv[2] === 'bare' ? bare : toBunHandler(petStore),
})
endWith()
ready(server.port, token)
