import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bodyOfHost } from '../../../adapters/hosts/node/body.ts'
import type { HostRequest } from '../../../adapters/hosts/node/messages.ts'

type Given = Partial<Pick<HostRequest, 'rawBody' | 'body' | 'headers'>>

function bodyText(given: Given, text: string): string | undefined {
  const headers = { 'content-length': String(Buffer.byteLength(text)) }
  try {
    return Buffer.from(bodyOfHost({ headers, rawBody: undefined, body: undefined, ...given })).toString()
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
  const odd = [undefined, null, 5, true, Symbol('x'), () => {}, { id: Number.NaN }, { id: 2 ** 60 }]
  for (const body of odd) expect(bodyText({ body }, 'x'.repeat(50))).toBeUndefined()
})

test('rejects a body that is nested too deeply to serialize', () => {
  const text = '['.repeat(200_000) + ']'.repeat(200_000)
  const headers = { 'content-length': String(text.length) }
  expect(() => bodyOfHost({ headers, rawBody: undefined, body: JSON.parse(text) })).toThrow(
    expect.objectContaining({ code: 'malformed_json', message: expect.stringContaining('nested too deeply') }),
  )
})

test('accepts the parsed value of a chunked body', () => {
  expect(bodyText({ headers: { 'transfer-encoding': 'chunked' }, body: { a: 1 } }, '')).toBe('{"a":1}')
})

test('returns an empty body for Content-Length 0', () => {
  expect(bodyText({}, '')).toBe('')
})

test.each(['[]', '{"name":"Rex","categoryId":1.5}'])('serializes the parsed value of %s to the same text', (text) => {
  expect(bodyText({ body: JSON.parse(text) }, text.padEnd(50))).toBe(text)
})

test.each([
  ['the host has read the body and kept neither its bytes nor the parsed object', undefined],
  ['the host has parsed the body and may have rounded the number 1152921504606847000', { id: 2 ** 60 }],
])('the error says why the body is lost: %s', (why, body) => {
  expect(() => bodyOfHost({ headers: { 'content-length': '50' }, rawBody: undefined, body })).toThrow(
    `${why}: mount the pet store before the body parser, or keep rawBody on Node's request (in Koa, context.req)`,
  )
})
