import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bodyOfHost } from '../../../adapters/hosts/node/body.ts'
import type { NodeIncoming } from '../../../adapters/hosts/node/messages.ts'

function bodyText(given: Partial<NodeIncoming>, text: string): string | undefined {
  const rawHeaders = ['Content-Length', String(Buffer.byteLength(text))]
  try {
    return Buffer.from(bodyOfHost({ rawHeaders, readableDidRead: true, ...given } as NodeIncoming)).toString()
  } catch (error) {
    expect(error).toMatchObject({ code: 'body_already_read' })
    return undefined
  }
}

test('serializes a parsed body without loss, or rejects the body', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value)
      const body = bodyText({ body: JSON.parse(text) }, text)
      if (body !== undefined) expect(JSON.parse(body)).toEqual(JSON.parse(text))
    }),
  )
})

test('keeps every digit of an integer, or rejects the body', () => {
  fc.assert(
    fc.property(fc.bigInt(-(2n ** 65n), 2n ** 65n), (id) => {
      const text = `{"name":"Rex","categoryId":${id}}`
      const body = bodyText({ body: JSON.parse(text) }, text)
      const isExact = id >= Number.MIN_SAFE_INTEGER && id <= Number.MAX_SAFE_INTEGER
      expect(body).toBe(isExact ? text : undefined)
    }),
  )
})

test('prefers the raw bytes to the parsed body', () => {
  const text = '{"name":"Rex","categoryId":9007199254740993}'
  const body = JSON.parse(text)
  expect(bodyText({ body, rawBody: text }, text)).toBe(text)
  expect(bodyText({ body, rawBody: Buffer.from(text) }, text)).toBe(text)
  expect(bodyText({ body: new TextEncoder().encode(text) }, text)).toBe(text)
  expect(bodyText({ body: Buffer.from('{}'), rawBody: Buffer.from(text) }, text)).toBe(text)
})

test('rejects a rawBody with replacement characters, and a body that is text', () => {
  const text = '{"name":"R\u00e9x","categoryId":1}'
  expect(bodyText({ rawBody: text }, text)).toBe(text)
  expect(bodyText({ rawBody: Buffer.of(0xff).toString(), body: {} }, text)).toBeUndefined()
  expect(bodyText({ body: text }, text)).toBeUndefined()
})

test('rejects values that cannot be a JSON body', () => {
  const odd = [undefined, null, {}, 5, true, Symbol('x'), () => {}, { id: Number.NaN }, { id: 2 ** 60 }]
  for (const body of odd) expect(bodyText({ body }, 'x'.repeat(50))).toBeUndefined()
})

test('rejects a body that is nested too deeply to serialize', () => {
  const text = '['.repeat(200_000) + ']'.repeat(200_000)
  const rawHeaders = ['Content-Length', String(text.length)]
  const incoming = { rawHeaders, body: JSON.parse(text) } as unknown as NodeIncoming
  expect(() => bodyOfHost(incoming)).toThrow(
    expect.objectContaining({ code: 'malformed_json', message: expect.stringContaining('nested too deeply') }),
  )
})

test('accepts a parsed body without Content-Length only in HTTP/2', () => {
  const rawHeaders: string[] = []
  const text = '{"name":"Rex","categoryId":1}'
  expect(bodyText({ rawHeaders, httpVersionMajor: 1, body: JSON.parse(text) }, text)).toBe('')
  expect(bodyText({ rawHeaders, httpVersionMajor: 2, body: JSON.parse(text) }, text)).toBe(text)
  expect(bodyText({ rawHeaders, httpVersionMajor: 2 }, text)).toBeUndefined()
})

test('accepts a parsed {} only if the body was very short', () => {
  const shortest = '{"name":"a","categoryId":1}'
  expect(bodyText({ body: {} }, shortest)).toBeUndefined()
  expect(bodyText({ body: {} }, shortest.slice(1))).toBe('{}')
})

test('accepts the parsed value of a chunked body, except {}', () => {
  const rawHeaders = ['Transfer-Encoding', 'chunked']
  expect(bodyText({ rawHeaders, body: { a: 1 } }, '')).toBe('{"a":1}')
  expect(bodyText({ rawHeaders, body: {} }, '')).toBeUndefined()
})

test('returns an empty body for Content-Length 0', () => {
  expect(bodyText({}, '')).toBe('')
})

test.each(['[]', '{"name":"Rex","categoryId":1.5}'])('serializes the parsed value of %s to the same text', (text) => {
  expect(bodyText({ body: JSON.parse(text) }, text.padEnd(50))).toBe(text)
})

test.each([
  ['the host has read the body and kept neither its bytes nor the parsed object', undefined],
  ['the host has read the body and kept only an empty object', {}],
  ['the host has parsed the body and may have rounded the number 1152921504606847000', { id: 2 ** 60 }],
])('the error says why the body is lost: %s', (why, body) => {
  const incoming = { rawHeaders: ['Content-Length', '50'], body } as unknown as NodeIncoming
  expect(() => bodyOfHost(incoming)).toThrow(
    `${why}: mount the pet store before the body parser, or keep rawBody on Node's request (in Koa, context.req)`,
  )
})
