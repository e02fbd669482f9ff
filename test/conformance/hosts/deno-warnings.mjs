import { once } from 'node:events'
import { request } from 'node:http'
import * as http2 from 'node:http2'
import { connect } from 'node:net'
import { createPetStore, memory } from 'petstore-kit'
import { toDenoHandler } from 'petstore-kit/deno'

// Sends each kind of request, and prints the statuses and the number of animals. With the argument `signals`, the back end reads
// the signal of its context, and uploads over HTTP/2 have no Content-Length.
const withSignals = Deno.args.includes('signals')
const BODY = '{"name":"Rex","categoryId":1}'
const backEnd = memory()
const { token } = await backEnd.keyStore.issue({ plan: 'free' })
const storage = {
  ...backEnd.storage,
  list: async (query, context) => (withSignals && context.signal.aborted ? [] : backEnd.storage.list(query)),
  async get() {
    throw new Error('a fault of the back end')
  },
}
let reported = Promise.withResolvers()
const petStore = createPetStore({
  ...backEnd,
  storage,
  onError() {},
  onResponse: ({ status }) => reported.resolve(status),
})
let called = Promise.withResolvers()
const handler = toDenoHandler({
  ...petStore,
  handle(request) {
    const response = petStore.handle(request)
    called.resolve()
    return response
  },
})
const server = Deno.serve({ port: 0, hostname: '127.0.0.1', onListen() {} }, handler)
const origin = `http://127.0.0.1:${server.addr.port}`
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
const session = http2.connect(origin)

async function respond(stream) {
  const [response] = await once(stream, 'response')
  const body = response.resume ? response : stream
  body.resume()
  await once(body, 'end')
  return response.statusCode ?? response[':status']
}

function overHttp1(method, path, more = {}) {
  return request(`${origin}/v1${path}`, { method, headers: { ...headers, ...more } })
}

function overHttp2(more) {
  return session.request({ ':method': 'POST', ':path': '/v1/pets', ...headers, ...more })
}

/** Sends a POST without a body and without Content-Length, as `curl -X POST` does. Returns the status. */
async function statusWithoutBody() {
  const socket = connect(server.addr.port, '127.0.0.1')
  socket.write(`POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: ${headers.authorization}\r\n`)
  socket.write('Content-Type: application/json\r\n\r\n')
  const [bytes] = await once(socket, 'data')
  socket.destroy()
  return Number(String(bytes).slice(9, 12))
}

/** Sends the body, and breaks the upload off as soon as the store has the request. Returns the status that is reported. */
async function breakOff(stream) {
  reported = Promise.withResolvers()
  called = Promise.withResolvers()
  stream.on('error', () => {})
  stream.write(BODY)
  await called.promise
  stream.destroy()
  return reported.promise
}

const chunked = { 'transfer-encoding': 'chunked' }
const length = { 'content-length': BODY.length }
console.log('list:', await respond(overHttp1('GET', '/pets').end()))
console.log('create:', await respond(overHttp1('POST', '/pets', length).end(BODY)))
console.log('create in chunks:', await respond(overHttp1('POST', '/pets', chunked).end(BODY)))
console.log('create without a body:', await statusWithoutBody())
console.log('create over HTTP/2:', await respond(overHttp2(withSignals ? {} : length).end(BODY)))
console.log('fault:', await respond(overHttp1('GET', '/pets/1').end()))
console.log('too large:', await respond(overHttp1('POST', '/pets', chunked).end(' '.repeat(2_000_000))))
console.log('broken:', await breakOff(overHttp1('POST', '/pets', chunked)))
if (withSignals) console.log('broken over HTTP/2:', await breakOff(overHttp2()))
console.log('animals:', (await backEnd.storage.list({ limit: 9 })).length)
Deno.exit()
