import { getEventListeners } from 'node:events'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { bodyUnlessAborted, readAndDiscard, readBody } from '../../../src/http/read-body.ts'

const encode = (text: string) => new TextEncoder().encode(text)

/** Returns a byte stream that writes each text into the buffer of its reader, and the sizes of these buffers. */
function byteStream(texts: string[]) {
  const sizes: number[] = []
  const body = new ReadableStream({
    type: 'bytes',
    pull(stream: ReadableByteStreamController) {
      const { byobRequest } = stream
      if (!byobRequest?.view) throw new TypeError('expected a reader with a buffer')
      const view = byobRequest.view as Uint8Array
      sizes.push(view.byteLength)
      const text = texts.shift()
      if (text === undefined) stream.close()
      else view.set(encode(text))
      byobRequest.respond(text?.length ?? 0)
    },
  })
  return { body, sizes }
}

/** Returns a stream that fails after one text. */
function brokenStream(text: string, error: unknown) {
  const pulls = [
    (stream: ReadableStreamDefaultController) => stream.enqueue(encode(text)),
    (stream: ReadableStreamDefaultController) => stream.error(error),
  ]
  return new ReadableStream<Uint8Array>({ pull: (stream) => pulls.shift()?.(stream) }, { highWaterMark: 0 })
}

describe('readBody', () => {
  test('reads a byte stream with one buffer of 16 KiB', async () => {
    const { body, sizes } = byteStream(['ab', 'cd', 'e'])
    const bytes = await readBody(body, new Headers(), 5, undefined)
    expect([bytes, sizes]).toEqual([encode('abcde'), [16_384, 16_384, 16_384, 16_384]])
  })

  test('leaves the rest of a body over the limit to others', async () => {
    const body = new ReadableStream({ type: 'bytes', pull: (stream) => stream.enqueue(encode('abc')) })
    await expect(readBody(body, new Headers(), 2, undefined)).rejects.toMatchObject({ code: 'payload_too_large' })
    expect(await body.getReader().read()).toEqual({ done: false, value: encode('abc') })
  })

  test.each([
    ['without a signal', undefined],
    ['with a signal that has not aborted', new AbortController().signal],
  ])('rejects a body whose stream fails after Content-Length bytes, %s', async (_, signal) => {
    const cause = new Error('reset')
    const headers = new Headers({ 'content-length': '3' })
    const read = readBody(brokenStream('abc', cause), headers, 9, signal)
    await expect(read).rejects.toMatchObject({ code: 'incomplete_body', cause })
  })

  test.each([
    ['3', 'abc'],
    ['4', 'incomplete_body'],
  ])('after a disconnect, returns 3 bytes only if Content-Length is 3: %s', async (length, expected) => {
    const client = new AbortController()
    client.abort()
    const headers = new Headers({ 'content-length': length })
    const read = readBody(brokenStream('abc', client.signal.reason), headers, 9, client.signal)
    const text = read.then(
      (bytes) => new TextDecoder().decode(bytes),
      ({ code }) => code,
    )
    expect(await text).toBe(expected)
  })

  test('accepts the end of a body without a signal', async () => {
    const { body } = byteStream(['abc'])
    expect(await readBody(body, new Headers(), 3, undefined)).toEqual(encode('abc'))
  })
})

describe('readAndDiscard', () => {
  /** Returns a stream without an end, and how often it was read and cancelled. */
  function endlessStream(chunk: () => unknown) {
    const calls = { pulls: 0, cancels: 0 }
    const source = {
      pull(stream: ReadableStreamDefaultController) {
        calls.pulls++
        stream.enqueue(chunk())
      },
      cancel() {
        calls.cancels++
      },
    }
    return { calls, body: new ReadableStream(source, { highWaterMark: 0 }) }
  }

  test.each([
    ['of 64 KB', 65_536, 253],
    ['of one byte', 1, 16_761],
  ])('stops after 16 MiB, with 1,000 bytes more for each chunk: chunks %s', async (_, length, pulls) => {
    const chunk = new Uint8Array(length)
    const { calls, body } = endlessStream(() => chunk)
    await readAndDiscard(body)
    expect(calls).toEqual({ pulls, cancels: 0 })
  })

  test('stops after a minute', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const { calls, body } = endlessStream(() => {
      vi.advanceTimersByTime(20_000)
      return encode('a')
    })
    await readAndDiscard(body)
    expect(calls).toEqual({ pulls: 3, cancels: 0 })
  })

  test.each([undefined, null, 'text'])('stops at the invalid chunk %s', async (chunk) => {
    const { calls, body } = endlessStream(() => chunk)
    await readAndDiscard(body)
    expect(calls).toEqual({ pulls: 1, cancels: 0 })
  })

  test('resolves if other code reads the body, or if the body fails', async () => {
    const { calls, body } = endlessStream(() => encode('a'))
    body.getReader()
    await readAndDiscard(body)
    expect(calls.pulls).toBe(0)
    await expect(readAndDiscard(brokenStream('abc', new Error('reset')))).resolves.toBeUndefined()
  })
})

describe('bodyUnlessAborted', () => {
  /** Returns a promise for a body, and a function that resolves it. */
  function lateBody() {
    let arrive = (_: string) => {}
    const body = new Promise<string>((resolve) => {
      arrive = resolve
    })
    return { body, arrive }
  }

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
  })

  test('rejects a late body one timer after the client disconnects', async () => {
    const client = new AbortController()
    const failed = vi.fn()
    bodyUnlessAborted(lateBody().body, client).catch(failed)
    await vi.advanceTimersByTimeAsync(1_000)
    client.abort('gone')
    await Promise.resolve()
    expect(failed).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    expect(failed).toHaveBeenCalledExactlyOnceWith('gone')
  })

  test('waits for a late body without a signal', async () => {
    const { body, arrive } = lateBody()
    const read = bodyUnlessAborted(body, { signal: undefined })
    vi.runAllTimers()
    arrive('body')
    expect(await read).toBe('body')
  })

  test('never reads the signal if the body is there at once', async () => {
    const signal = vi.fn(() => new AbortController().signal)
    const request = {
      get signal() {
        return signal()
      },
    }
    expect(await bodyUnlessAborted(Promise.resolve('body'), request)).toBe('body')
    await Promise.resolve()
    vi.runAllTimers()
    expect(signal).not.toHaveBeenCalled()
  })

  test('removes its listener after a late body', async () => {
    const { body, arrive } = lateBody()
    const { signal } = new AbortController()
    const read = bodyUnlessAborted(body, { signal })
    vi.runAllTimers()
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    arrive('body')
    await read
    await Promise.resolve()
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })
})
