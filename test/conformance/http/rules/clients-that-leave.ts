import assert from 'node:assert/strict'
import { eventually, expectJson, keyOf, post, probe } from '../expect.ts'
import type { Rules } from '../suite.ts'

/** Tests of clients that disconnect before the response. */
export const clientsThatLeave: Rules = {
  'aborts the signal when the client disconnects': async ({ send, wire, looks }) => {
    const before = await probe(send)
    const leaving = wire()
    leaving.write(
      `GET /leaving/v1/pets HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${keyOf('ample').authorization}\r\n\r\n`,
    )
    await eventually(async () => (await probe(send)).started > before.started, 'the request never arrived')
    leaving.close()
    await eventually(async () => (await probe(send)).aborted > before.aborted, 'no abort', looks)
  },
  'does not abort the signal when the body ends': async ({ send }) => {
    for (let i = 0; i < 3; i++) expectJson(await post(send, '/leaving/v1/pets'), 201)
    assert.equal((await probe(send)).falselyAborted, 0)
  },
  'serves further requests after a client has disconnected mid-upload': async ({ send, wire }) => {
    const leaving = wire()
    const { authorization } = keyOf('ample')
    const head = `POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\n`
    leaving.write(`${head}Content-Length: 1000\r\n\r\n{"name":`)
    await probe(send)
    leaving.close()
    expectJson(await post(send, '/v1/pets'), 201)
  },
}
