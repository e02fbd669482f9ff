import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { toNodeHandler } from '../../../../adapters/hosts/node/index.ts'
import { expectSilence, startHost, startServer, storeWithKey } from '../../../support/node-server.ts'
import { type RawConnection, rawConnection } from '../../../support/raw-http.ts'

beforeEach(expectSilence)

// The conformance suite tests that a connection survives a rejected upload.

const INVALID_KEY = 'Host: a\r\nAuthorization: Bearer nobody\r\n'
const BLOCK = Buffer.alloc(65_536, 'a')

/** Returns the head of an upload of this many blocks, with an invalid key. */
function uploadHead(blocks: number, fields = ''): string {
  return `POST /v1/pets HTTP/1.1\r\n${INVALID_KEY}${fields}Content-Length: ${blocks * BLOCK.length}\r\n\r\n`
}

/** Uploads blocks. Stops early if the connection closes. */
async function upload({ send, socket }: RawConnection, blocks: number): Promise<void> {
  for (let sent = 0; sent < blocks && !socket.destroyed; sent++) await send(BLOCK)
}

/** Replaces `setTimeout`, so that the server's timers fire only when the test advances the time. */
function holdTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
}

test('responds to a rejected upload before it ends', async () => {
  const { url } = await startServer()
  holdTimers()
  const connection = await rawConnection(url)
  await connection.send(uploadHead(64))
  expect(await connection.answer()).toMatchObject({ status: 401, headers: { connection: 'keep-alive' } })
})

test('with Connection: close, reads a rejected upload before it responds and closes', async () => {
  const { petStore } = await storeWithKey()
  const handler = toNodeHandler(petStore)
  const ended: boolean[] = []
  const url = await startHost((request, response) => {
    const { end } = response
    response.end = ((...args: Parameters<typeof end>) => {
      ended.push(request.complete)
      return end.apply(response, args)
    }) as never
    handler(request, response)
  })
  const connection = await rawConnection(url)
  await connection.send(uploadHead(64, 'Connection: close\r\n'))
  await upload(connection, 64)
  expect(await connection.answer()).toMatchObject({ status: 401, headers: { connection: 'close' } })
  await connection.closed()
  expect(connection.socket.errored).toBeNull()
  expect(ended).toEqual([true])
})

test('reads little more than 16 MiB of a rejected upload', async () => {
  const { url } = await startServer()
  const connection = await rawConnection(url)
  await connection.send(uploadHead(4_800))
  expect((await connection.answer()).status).toBe(401)
  await upload(connection, 4_800)
  await connection.closed()
  expect(connection.socket.bytesWritten).toBeLessThan(100 * 1024 * 1024)
})

test('closes the connection 2 seconds after rejecting an upload that never arrives', async () => {
  const { url } = await startServer()
  holdTimers()
  const connection = await rawConnection(url)
  await connection.send(uploadHead(64))
  expect((await connection.answer()).status).toBe(401)
  vi.advanceTimersByTime(2_000)
  await connection.closed()
})

test('reads a rejected upload for as long as bytes arrive', async () => {
  holdTimers()
  const { petStore } = await storeWithKey()
  const handler = toNodeHandler(petStore)
  const requests: IncomingMessage[] = []
  const url = await startHost((request, response) => {
    requests.push(request)
    handler(request, response)
  })
  const connection = await rawConnection(url)
  await connection.send(uploadHead(32))
  expect((await connection.answer()).status).toBe(401)
  for (let part = 0; part < 8; part++) {
    vi.advanceTimersByTime(1_900)
    const arrived = once(requests[0] as IncomingMessage, 'data')
    await upload(connection, 4)
    await arrived
  }
  await connection.send(`GET /v1/pets HTTP/1.1\r\n${INVALID_KEY}\r\n`)
  expect((await connection.answer()).status).toBe(401)
})

test('reads a rejected upload that the host has paused', async () => {
  const { petStore } = await storeWithKey()
  const handler = toNodeHandler(petStore)
  const connection = await rawConnection(await startHost((request, response) => handler(request.pause(), response)))
  await connection.send(uploadHead(64))
  expect((await connection.answer()).status).toBe(401)
  await upload(connection, 64)
  await connection.send(`GET /v1/pets HTTP/1.1\r\n${INVALID_KEY}\r\n`)
  expect((await connection.answer()).status).toBe(401)
})
