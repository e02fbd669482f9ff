import fc from 'fast-check'
import { expect, test } from 'vitest'
import { keptBody } from '../../../adapters/hosts/node/parsed-body.ts'
import type { NodeIncoming } from '../../../adapters/hosts/node/types.ts'

function keep(given: Partial<NodeIncoming>, text: string): string | undefined {
  const rawHeaders = ['Content-Length', String(Buffer.byteLength(text))]
  try {
    return Buffer.from(keptBody({ rawHeaders, ...given } as NodeIncoming)).toString()
  } catch (error) {
    expect(error).toMatchObject({ code: 'body_already_read' })
    return undefined
  }
}

test('a parsed body is written as the same value, or refused', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value)
      const kept = keep({ body: JSON.parse(text), _body: true }, text)
      if (kept !== undefined) expect(JSON.parse(kept)).toEqual(JSON.parse(text))
    }),
  )
})

test('an integer is taken exactly, or refused', () => {
  fc.assert(
    fc.property(fc.bigInt(-(2n ** 65n), 2n ** 65n), (id) => {
      const text = `{"name":"Rex","categoryId":${id}}`
      const kept = keep({ body: JSON.parse(text) }, text)
      const isExact = id >= Number.MIN_SAFE_INTEGER && id <= Number.MAX_SAFE_INTEGER
      expect(kept).toBe(isExact ? text : undefined)
    }),
  )
})

test('exact bytes go before what a parser made of them', () => {
  const text = '{"name":"Rex","categoryId":9007199254740993}'
  const body = JSON.parse(text)
  expect(keep({ body, rawBody: text }, text)).toBe(text)
  expect(keep({ body, rawBody: Buffer.from(text) }, text)).toBe(text)
  expect(keep({ body: new TextEncoder().encode(text) }, text)).toBe(text)
  expect(keep({ body: Buffer.from('{}'), rawBody: Buffer.from(text) }, text)).toBe(text)
  expect(keep({ body: 'Rex', rawBody: '"Rex"' }, '"Rex"')).toBe('"Rex"')
})

test('text that is not what was sent is refused', () => {
  for (const member of ['rawBody', 'body']) {
    const kept = (text: string, bytes: string | Buffer) => {
      const rawHeaders = ['Content-Length', String(bytes.length)]
      const chunked = ['Transfer-Encoding', 'chunked']
      return [rawHeaders, chunked].map((headers) => keep({ rawHeaders: headers, [member]: text }, text))
    }
    for (const text of ['{"name":"Rex","categoryId":1}', '{"name":"R\u00e9x","categoryId":1}'])
      expect(kept(text, Buffer.from(text))).toEqual([text, text])
    // As long in UTF-8 as what it stands for, or not.
    for (const bytes of [Buffer.from([0xf0, 0x9f, 0x98]), Buffer.from([0xff])])
      expect(kept(bytes.toString(), bytes)).toEqual([undefined, undefined])
  }
})

test('what is no body is refused', () => {
  const cycle: { self?: unknown } = {}
  cycle.self = cycle
  const odd = [undefined, null, {}, cycle, { id: 1n }, Symbol('x'), () => {}, { id: Number.NaN }, { id: 2 ** 60 }]
  for (const body of odd) expect(keep({ body }, 'x'.repeat(50))).toBeUndefined()
})

test('a body deeper than can be written is malformed', () => {
  const text = '['.repeat(200_000) + ']'.repeat(200_000)
  const rawHeaders = ['Content-Length', String(text.length)]
  const incoming = { rawHeaders, body: JSON.parse(text) } as unknown as NodeIncoming
  expect(() => keptBody(incoming)).toThrow(expect.objectContaining({ code: 'malformed_json' }))
})

test('a body of which no header speaks is none in HTTP/1, and may be one that was parsed by HTTP/2', () => {
  const rawHeaders: string[] = []
  const text = '{"name":"Rex","categoryId":1}'
  expect(keep({ rawHeaders, httpVersionMajor: 1, body: JSON.parse(text) }, text)).toBe('')
  expect(keep({ rawHeaders, httpVersionMajor: 2, body: JSON.parse(text) }, text)).toBe(text)
  expect(keep({ rawHeaders, httpVersionMajor: 2 }, text)).toBeUndefined()
})

test('an empty object stands for a body only where no animal can have been lost', () => {
  const shortest = '{"name":"a","categoryId":1}'
  expect(keep({ body: {} }, shortest)).toBeUndefined()
  expect(keep({ body: {} }, shortest.slice(1))).toBe('{}')
})

test('an empty object that was really parsed is written as it was', () => {
  expect(keep({ body: {}, _body: true }, '{}'.padEnd(50))).toBe('{}')
})

test('of a body in chunks, what was parsed is taken, but for an empty object', () => {
  const rawHeaders = ['Transfer-Encoding', 'chunked']
  expect(keep({ rawHeaders, body: { a: 1 } }, '')).toBe('{"a":1}')
  expect(keep({ rawHeaders, body: {} }, '')).toBeUndefined()
})

test('a body of no length is empty, though nothing of it was kept', () => {
  expect(keep({}, '')).toBe('')
})

test.each(['5', 'true', '[]', '{"name":"Rex","categoryId":1.5}'])('a value, %s, is written as it was', (text) => {
  expect(keep({ body: JSON.parse(text) }, text.padEnd(50))).toBe(text)
})

const cyclic: { self?: unknown } = {}
cyclic.self = cyclic

test.each([
  ['nothing of it was kept', undefined],
  ['the text that was kept is not as long as it was', 'short'],
  ['only an empty object was kept', {}],
  ['the number 1152921504606847000 in it may have been rounded', { id: 2 ** 60 }],
  ['cannot be written as JSON again', cyclic],
  ['is no JSON value any more', Symbol('x')],
])('why a body is lost is told: %s', (why, body) => {
  const incoming = { rawHeaders: ['Content-Length', '50'], body } as unknown as NodeIncoming
  expect(() => keptBody(incoming)).toThrow(
    `${why}: mount the pet store before the body parser, or keep request.rawBody`,
  )
  const cause = why.startsWith('cannot be written') ? expect.any(TypeError) : undefined
  expect(() => keptBody(incoming)).toThrow(expect.objectContaining({ cause }))
})

test('why a body is lost is told: too deep', () => {
  const text = '['.repeat(200_000) + ']'.repeat(200_000)
  const rawHeaders = ['Content-Length', String(text.length)]
  expect(() => keptBody({ rawHeaders, body: JSON.parse(text) } as unknown as NodeIncoming)).toThrow('nested too deeply')
})
