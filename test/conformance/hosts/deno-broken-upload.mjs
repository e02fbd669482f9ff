import { connect, constants } from 'node:http2'
import { createPetStore, memory } from 'petstore-kit'
import { toDenoHandler } from 'petstore-kit/deno'

// The client sends a complete JSON text, then resets the HTTP/2 stream without ending the body. With the argument `at-once`, the
// client resets the stream immediately; otherwise only after the store has received the request.
const backEnd = memory()
const { token } = await backEnd.keyStore.issue({ plan: 'free' })
const reported = Promise.withResolvers()
const petStore = createPetStore({ ...backEnd, onResponse: ({ status }) => reported.resolve(status) })
const called = Promise.withResolvers()
const handler = toDenoHandler({
  ...petStore,
  handle: (request) => {
    const response = petStore.handle(request)
    called.resolve()
    return response
  },
})
const server = Deno.serve({ port: 0, hostname: '127.0.0.1', onListen() {} }, handler)
const session = connect(`http://127.0.0.1:${server.addr.port}`)
session.on('error', () => {})
const stream = session.request({
  ':method': 'POST',
  ':path': '/v1/pets',
  authorization: `Bearer ${token}`,
  'content-type': 'application/json',
})
stream.on('error', () => {})
stream.write('{"name":"Rex","categoryId":1}')
if (!Deno.args.includes('at-once')) await called.promise
stream.close(constants.NGHTTP2_CANCEL)
console.log(await reported.promise, (await backEnd.storage.list({ limit: 1 })).length)
Deno.exit()
