import { beforeEach, describe, expect, test } from 'vitest'
import { toNodeHandler } from '../../../../adapters/hosts/node/index.ts'
import type { ApiRequest, PetStore } from '../../../../src/index.ts'
import { within } from '../../../support/deadline.ts'
import {
  expectSilence,
  petBody,
  signalled,
  startHost,
  startServer,
  storeWithKey,
} from '../../../support/node-server.ts'
import { rawConnection } from '../../../support/raw-http.ts'

beforeEach(expectSilence)

/** Returns a wrapper for stores that records each request and the result of reading its body. */
function spy() {
  const requests: ApiRequest[] = []
  const bodies: Promise<unknown>[] = []
  const arrived = signalled()
  const answered = signalled()
  const wrap = (petStore: PetStore): PetStore => ({
    ...petStore,
    handle: async (request) => {
      const body = request.body.bind(request)
      request.body = (limit) => {
        const reading = body(limit)
        bodies.push(reading.catch((error: unknown) => error))
        arrived.resolve()
        return reading
      }
      requests.push(request)
      void request.signal
      return petStore.handle(request).finally(answered.resolve)
    },
  })
  return { requests, bodies, wrap, arrived: arrived.promise, answered: answered.promise }
}

function aborted(request: ApiRequest | undefined): Promise<void> {
  const signal = request?.signal
  return within(
    new Promise((resolve) => {
      if (signal?.aborted) resolve()
      else signal?.addEventListener('abort', () => resolve())
    }),
    'the signal',
  )
}

describe('a client that disconnects', () => {
  test.each([
    ['with a TCP reset, body with Content-Length', 'Content-Length: 1000\r\n\r\nhalf', true],
    ['with a TCP reset, body in chunks', 'Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n', true],
    ['without a TCP reset, body with Content-Length', 'Content-Length: 1000\r\n\r\nhalf', false],
    ['without a TCP reset, body in chunks', 'Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n', false],
  ])('an upload fails with incomplete_body if its client disconnects: %s', async (_how, body, reset) => {
    const watched = spy()
    const { url, authorized } = await startServer({ wrap: watched.wrap })
    const connection = await rawConnection(url)
    await connection.send(`POST /v1/pets HTTP/1.1\r\n${authorized}Content-Type: application/json\r\n${body}`)
    await within(watched.arrived, 'the reading')
    expect(watched.requests[0]?.signal?.aborted).toBe(false)
    if (reset) connection.socket.resetAndDestroy()
    else connection.leave()
    expect(await within(Promise.all(watched.bodies), 'the body')).toMatchObject([{ code: 'incomplete_body' }])
    await aborted(watched.requests[0])
  })

  test('reading a body fails with incomplete_body if its client has already disconnected', async () => {
    const watched = spy()
    const gone = signalled()
    const wrap = (petStore: PetStore): PetStore => {
      const { handle } = watched.wrap(petStore)
      return { ...petStore, handle: (request) => aborted(request).then(() => handle(request).finally(gone.resolve)) }
    }
    const { url, authorized } = await startServer({ wrap })
    const connection = await rawConnection(url)
    await connection.send(`POST /v1/pets HTTP/1.1\r\n${authorized}Content-Type: application/json\r\n`)
    await connection.send('Content-Length: 1000\r\n\r\nhalf')
    connection.leave()
    await within(gone.promise, 'the response')
    expect(await Promise.all(watched.bodies)).toMatchObject([{ code: 'incomplete_body' }])
  })

  test('an upload fails with incomplete_body after the host destroys the request', async () => {
    const watched = spy()
    const { petStore, authorized } = await storeWithKey({ wrap: watched.wrap })
    const handler = toNodeHandler(petStore)
    const url = await startHost((request, response) => {
      handler(request, response)
      void watched.arrived.then(() => request.destroy())
    })
    const connection = await rawConnection(url)
    const head = `${authorized}Content-Type: application/json\r\nContent-Length: 1000`
    await connection.send(`POST /v1/pets HTTP/1.1\r\n${head}\r\n\r\nhalf`)
    await within(watched.answered, 'the response')
    expect(await Promise.all(watched.bodies)).toMatchObject([{ code: 'incomplete_body' }])
  })
})

describe('a disconnect after the response', () => {
  test('a disconnect after both responses does not abort the signals of their requests', async () => {
    const watched = spy()
    const { url, authorized, close } = await startServer({ wrap: watched.wrap })
    const connection = await rawConnection(url)
    await connection.send(`POST /v1/pets HTTP/1.1\r\n${authorized}${petBody()}`)
    expect((await connection.answer()).status).toBe(201)
    await connection.send(`GET /v1/pets HTTP/1.1\r\n${authorized}\r\n`)
    expect((await connection.answer()).status).toBe(200)
    connection.leave()
    await close()
    expect(watched.requests.map(({ signal }) => signal?.aborted)).toEqual([false, false])
  })

  test('a disconnect during an upload, but after the response, aborts no signal', async () => {
    const watched = spy()
    const { url, authorized, close } = await startServer({ wrap: watched.wrap })
    const connection = await rawConnection(url)
    await connection.send(`GET /v1/pets HTTP/1.1\r\n${authorized}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n`)
    expect((await connection.answer()).status).toBe(200)
    connection.leave()
    await close()
    expect(watched.requests.map(({ signal }) => signal?.aborted)).toEqual([false])
  })
})

test('clientAddress is known although the client has left before the store gets the request', async () => {
  const left = signalled()
  const seen = signalled<unknown>()
  const wrap = (petStore: PetStore): PetStore => ({
    ...petStore,
    handle: async (request) => {
      await left.promise
      seen.resolve([request.signal?.aborted, request.clientAddress])
      return petStore.handle(request)
    },
  })
  const { petStore } = await storeWithKey({ wrap })
  const handler = toNodeHandler(petStore)
  const came = signalled()
  const url = await startHost((request, response) => {
    response.on('close', left.resolve)
    came.resolve()
    handler(request, response)
  })
  const connection = await rawConnection(url)
  await connection.send('GET /v1/pets HTTP/1.1\r\nHost: a\r\n\r\n')
  await within(came.promise, 'the request')
  connection.leave()
  expect(await within(seen.promise, 'the signal')).toEqual([true, '127.0.0.1'])
})
