import fc from 'fast-check'
import { expect, test } from 'vitest'
import { keptBody } from '../../adapters/node/kept-body.ts'
import type { NodeIncoming } from '../../adapters/node/types.ts'

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
