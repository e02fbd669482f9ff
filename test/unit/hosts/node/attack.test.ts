import fc from 'fast-check'
import { beforeEach, expect, test } from 'vitest'
import { expectSilence, petBody, startServer } from '../../../support/node-server.ts'
import { rawConnection, rawRequest } from '../../../support/raw-http.ts'

beforeEach(expectSilence)

/** Sends bytes and half-closes. Returns the status of each response that came before the server closed the connection. */
async function statusesOf(url: string, bytes: Uint8Array): Promise<number[]> {
  const connection = await rawConnection(url)
  let text = ''
  connection.socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
  })
  connection.socket.end(bytes)
  await connection.closed()
  connection.leave()
  return [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status))
}

/** Edits of a valid request: each removes some bytes at a position and inserts others. */
const edits = fc.array(fc.record({ at: fc.nat(400), drop: fc.nat(3), add: fc.uint8Array({ maxLength: 4 }) }), {
  minLength: 1,
  maxLength: 4,
})

function mutate(bytes: Buffer, changes: { at: number; drop: number; add: Uint8Array }[]): Buffer {
  return changes.reduce((whole, { at, drop, add }) => {
    const start = at % (whole.length + 1)
    return Buffer.concat([whole.subarray(0, start), add, whole.subarray(start + drop)])
  }, bytes)
}

test('never responds to random bytes or mutated requests with a 5xx', async () => {
  const { url, authorized } = await startServer()
  const good = [
    `GET /v1/pets?limit=2&status=sold HTTP/1.1\r\n${authorized}\r\n`,
    `POST /v1/pets HTTP/1.1\r\n${authorized}${petBody()}`,
    `POST /v1/pets HTTP/1.1\r\n${authorized}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    `POST /v1/pets HTTP/1.1\r\n${authorized}Expect: 100-continue\r\n${petBody()}`,
    `CONNECT a:1 HTTP/1.1\r\n${authorized}\r\nGET /v1/pets HTTP/1.1\r\n${authorized}\r\n`,
  ].map((text) => Buffer.from(text, 'latin1'))
  const bytes = fc.oneof(
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 600 }) },
    {
      weight: 4,
      arbitrary: fc.tuple(fc.constantFrom(...good), edits).map(([request, changes]) => mutate(request, changes)),
    },
  )
  const property = fc.asyncProperty(fc.array(bytes, { minLength: 8, maxLength: 8 }), async (attacks) => {
    const statuses = (await Promise.all(attacks.map((attack) => statusesOf(url, attack)))).flat()
    expect(statuses.filter((status) => status >= 500)).toEqual([])
  })
  await fc.assert(property, { numRuns: 150 })
  expect((await rawRequest(url, `GET /v1/pets HTTP/1.1\r\n${authorized}\r\n`)).status).toBe(200)
})

test('aborting 400 uploads causes no warning, and the server can still close', async () => {
  const warnings: unknown[] = []
  const listen = (warning: unknown) => void warnings.push(warning)
  process.on('warning', listen)
  const { url, authorized, close } = await startServer({ closeTimeout: 3_600_000 })
  for (let round = 0; round < 20; round++) {
    const some = Array.from({ length: 20 }, async (_, i) => {
      const connection = await rawConnection(url)
      const head = `POST /v1/pets HTTP/1.1\r\n${authorized}Content-Type: application/json\r\n`
      await connection.send(`${head}${i % 2 ? 'Content-Length: 900' : 'Transfer-Encoding: chunked'}\r\n\r\n5\r\nhello`)
      if (i % 3) connection.socket.resetAndDestroy()
      else connection.leave()
    })
    await Promise.all(some)
  }
  expect((await rawRequest(url, `GET /v1/pets HTTP/1.1\r\n${authorized}\r\n`)).status).toBe(200)
  await close()
  process.off('warning', listen)
  expect(warnings).toEqual([])
})
