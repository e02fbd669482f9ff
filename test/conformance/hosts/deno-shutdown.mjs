// Prints the response to an upload that is still arriving when the server shuts down.
import { createPetStore, memory } from 'petstore-kit'
import { toDenoHandler } from 'petstore-kit/deno'

const BODY = '{"name":"Rex","categoryId":1}'
const backEnd = memory()
const { token } = await backEnd.keyStore.issue({ plan: 'free' })
const started = Promise.withResolvers()
const keyStore = {
  async find(sent, context) {
    started.resolve()
    return backEnd.keyStore.find(sent, context)
  },
}
const server = Deno.serve(
  { port: 0, hostname: '127.0.0.1', onListen() {} },
  toDenoHandler(createPetStore({ ...backEnd, keyStore })),
)

const connection = await Deno.connect({ port: server.addr.port, hostname: '127.0.0.1' })
const send = (text) => connection.write(new TextEncoder().encode(text))
const head = `Host: a\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}`
await send(`POST /v1/pets HTTP/1.1\r\n${head}\r\n\r\n${BODY.slice(0, 9)}`)
await started.promise
await new Promise((resolve) => setTimeout(resolve))
const closed = server.shutdown()
await send(BODY.slice(9)).catch(() => {})
const bytes = new Uint8Array(4_096)
const length = (await connection.read(bytes)) ?? 0
const text = new TextDecoder().decode(bytes.subarray(0, length))
console.log(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1], /"code":"(\w+)"/.exec(text)?.[1])
connection.close()
await closed
