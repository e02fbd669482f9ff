import { once } from 'node:events'
import { createServer, IncomingMessage, type RequestListener, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { toNodeHandler } from '../../../../adapters/hosts/node/index.ts'
import { storeWithKey } from '../../../support/node-server.ts'
import { type RawConnection, rawConnection } from '../../../support/raw-http.ts'

async function connectTo(listener: RequestListener, Response = ServerResponse): Promise<RawConnection> {
  const server = createServer({ IncomingMessage, ServerResponse: Response }, listener).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return rawConnection(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
}

test("the host's response class receives the whole body in its end method", async () => {
  const { petStore, authorized } = await storeWithKey()
  const seen: unknown[] = []
  class Audited extends ServerResponse {
    override end(...args: never[]): this {
      seen.push(args[0])
      return super.end(...args)
    }
  }
  const connection = await connectTo(toNodeHandler(petStore), Audited as typeof ServerResponse)
  void connection.send(`GET /v1/pets HTTP/1.1\r\n${authorized}\r\n`)
  expect((await connection.answer()).body).toBe('[]')
  expect(seen).toEqual(['[]'])
})

test("an `end` set by the host's writeHead receives the whole body", async () => {
  const { petStore, authorized } = await storeWithKey()
  const seen: unknown[] = []
  const { writeHead } = ServerResponse.prototype
  onTestFinished(() => {
    ServerResponse.prototype.writeHead = writeHead
  })
  ServerResponse.prototype.writeHead = function (this: ServerResponse, ...args: [number]) {
    const { end } = this
    this.end = ((...rest: Parameters<typeof end>) => {
      seen.push(rest[0])
      return end.apply(this, rest)
    }) as typeof end
    return writeHead.apply(this, args)
  } as typeof writeHead
  const connection = await connectTo(toNodeHandler(petStore))
  void connection.send(`GET /v1/pets HTTP/1.1\r\n${authorized}\r\n`)
  expect((await connection.answer()).body).toBe('[]')
  expect(seen).toEqual(['[]'])
})

test("the bytes of a host's non-ASCII header do not depend on the body", async () => {
  const { petStore, authorized } = await storeWithKey()
  const handler = toNodeHandler(petStore)
  const connection = await connectTo((request, response) => {
    response.setHeader('X-Host', 'J\u00fcrgen')
    handler(request, response)
  })
  const add = (name: string) => {
    const body = `{"name":"${name}","categoryId":1}`
    return `POST /v1/pets HTTP/1.1\r\n${authorized}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  }
  void connection.send(add('Rex') + add('R\\u00e9x') + add('\\u732b') + add('Max'))
  const answers = []
  for (let i = 0; i < 4; i++) answers.push(await connection.answer())
  expect(new Set(answers.map(({ headers }) => headers['x-host'])).size).toBe(1)
  expect(answers.map(({ status, body }) => [status, body.at(-1)])).toEqual(Array(4).fill([201, '}']))
})
