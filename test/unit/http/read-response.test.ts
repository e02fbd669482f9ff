import { expect, test } from 'vitest'
import { readResponse } from '../../../src/http/body-bytes.ts'

/** Returns a response that never ends, and how many bytes of its body have been read. */
function endless(status = 200) {
  const taken = { bytes: 0, isCancelled: false }
  const body = new ReadableStream({
    pull(stream) {
      taken.bytes += 1_000
      stream.enqueue(new Uint8Array(1_000))
    },
    cancel() {
      taken.isCancelled = true
      return new Promise(() => {})
    },
  })
  return { response: new Response(body, { status }), taken }
}

test('reads a body in several chunks up to the limit', async () => {
  const chunks = ['ab', 'c', 'de']
  const body = new ReadableStream({
    pull(stream) {
      const chunk = chunks.shift()
      if (chunk === undefined) stream.close()
      else stream.enqueue(new TextEncoder().encode(chunk))
    },
  })
  expect(new TextDecoder().decode(await readResponse(new Response(body), 5))).toBe('abcde')
})

test('stops reading at the limit, and cancels the body', async () => {
  const { response, taken } = endless(503)
  await expect(readResponse(response, 10_000)).rejects.toMatchObject({
    code: 'unexpected_response',
    status: 503,
    message: 'expected a body of at most 10000 bytes with status 503, got a longer one',
  })
  expect(taken.isCancelled).toBe(true)
  expect(taken.bytes).toBeLessThanOrEqual(12_000)
})

test('reads a response without a body', async () => {
  expect(await readResponse(new Response(null, { status: 204 }))).toEqual(new Uint8Array())
})
