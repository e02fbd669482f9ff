import { connect } from 'node:http2'
import { createPetStore, memory } from 'petstore-kit'
import { toDenoHandler } from 'petstore-kit/deno'

// An upload over HTTP/2 that is whole JSON, and was broken off by its client all the same.
const backEnd = memory()
const { token } = await backEnd.keyStore.issue({ plan: 'free' })
const answered = Promise.withResolvers()
const petStore = createPetStore({ ...backEnd, onResponse: ({ status }) => answered.resolve(status) })
const asked = Promise.withResolvers()
const handler = toDenoHandler({
  ...petStore,
  handle: (request) => {
    const answer = petStore.handle(request)
    asked.resolve()
    return answer
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
await asked.promise
stream.destroy()
console.log(await answered.promise, (await backEnd.storage.list({ limit: 1 })).length)
Deno.exit()
