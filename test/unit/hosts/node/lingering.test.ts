import { once } from 'node:events'
import { connect } from 'node:net'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { memory } from '../../../../src/index.ts'
import { within } from '../../../support/deadline.ts'
import { expectSilence, petBody, signalled, startServer } from '../../../support/node-server.ts'

beforeEach(expectSilence)

/** Connects with a socket that stays open after the server has ended its side. */
async function openConnection(url: string) {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true, noDelay: true })
  onTestFinished(() => void socket.destroy())
  const outcome = signalled<string>()
  let received = ''
  socket.on('data', (chunk) => {
    received += chunk
  })
  socket.on('error', (error: NodeJS.ErrnoException) => outcome.resolve(String(error.code)))
  socket.on('close', () => outcome.resolve('closed'))
  await once(socket, 'connect')
  return { socket, outcome: outcome.promise, statuses: () => received.match(/(?<=HTTP\/1\.1 )\d+/g) }
}

/** A store whose `create` waits until the test calls `open`. */
function gated() {
  const { storage } = memory()
  const gate = signalled()
  const asked = signalled()
  const create: typeof storage.create = async (...args) => {
    asked.resolve()
    await gate.promise
    return storage.create(...args)
  }
  return { store: { storage: { ...storage, create } }, asked: asked.promise, open: gate.resolve }
}

test('close does not reset a connection whose client is still sending requests', async () => {
  const { store, asked, open } = gated()
  const { url, authorized, close } = await startServer({ store, closeTimeout: 3_600_000 })
  const post = `POST /v1/pets HTTP/1.1\r\n${authorized}${petBody()}`
  const { socket, outcome, statuses } = await openConnection(url)
  socket.write(post)
  await within(asked, 'the storage')
  const closed = close()
  socket.write(post.repeat(2_000))
  open()
  await within(once(socket, 'end'), 'the end of the responses')
  expect(statuses()).toEqual(['201'])
  socket.write(post)
  socket.end()
  expect(await within(outcome, 'the end of the connection')).toBe('closed')
  await within(closed, 'close')
})

test('a client that floods an ended connection is reset', async () => {
  const { store, asked, open } = gated()
  const { url, authorized, close } = await startServer({ store, closeTimeout: 3_600_000 })
  const { socket, outcome } = await openConnection(url)
  socket.write(`POST /v1/pets HTTP/1.1\r\n${authorized}${petBody()}`)
  await within(asked, 'the storage')
  const closed = close()
  open()
  await within(once(socket, 'end'), 'the end of the responses')
  const flood = () => {
    while (!socket.destroyed && socket.write(Buffer.alloc(1_000_000)));
    socket.once('drain', flood)
  }
  flood()
  expect(await within(outcome, 'the reset')).toMatch(/^(?:ECONNRESET|EPIPE)$/)
  await within(closed, 'close')
})
