import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { linkTarget, nextCursor, readRateLimit, readRetryAfter, serverTime } from '../../../src/client/response.ts'

const NOW = Date.UTC(2030, 0, 1)

describe('readRetryAfter', () => {
  const read = (value: string) => readRetryAfter(new Headers({ 'Retry-After': value }), NOW)

  test.each([
    ['7', 7],
    ['0', 0],
    [' 7 ', 7],
    ['9'.repeat(400), 1e10],
    ['Tue, 01 Jan 2030 00:00:09 GMT', 9],
    ['Mon, 31 Dec 2029 23:00:00 GMT', 0],
  ])('reads "%s"', (value, seconds) => {
    expect(read(value)).toBe(seconds)
  })

  test.each([
    '',
    'soon',
    '-5',
    '+5',
    '5.0',
    '5s',
    '0x10',
    '1e3',
    '5, 60',
    '"5"',
    '2030-01-01T00:00:09Z',
    'Tue, 01 Jan 2030 00:00:09',
    'Tuesday, 01-Jan-30 00:00:09 GMT',
    'Tue, 01 Xyz 2030 00:00:09 GMT',
  ])('finds no time in "%s"', (value) => {
    expect(read(value)).toBeUndefined()
  })

  test('finds no time without the header', () => {
    expect(readRetryAfter(new Headers(), NOW)).toBeUndefined()
  })

  test('reads any text without an error', () => {
    const unit = fc.constantFrom(...'0123456789 .,:;+-"GMTueJan', 'é')
    const law = fc.property(fc.string({ unit }), (text) => {
      const seconds = read(text)
      expect(seconds === undefined || seconds >= 0).toBe(true)
    })
    fc.assert(law)
  })
})

test.each([
  ['Tue, 01 Jan 2030 00:00:09 GMT', NOW + 9_000],
  ['5', NOW],
  ['yesterday', NOW],
])('serverTime reads the Date "%s"', (date, time) => {
  expect(serverTime(new Headers({ Date: date }), NOW)).toBe(time)
})

describe('readRateLimit', () => {
  const read = (limit: string, remaining: string, reset: string) =>
    readRateLimit(
      new Headers({ 'X-RateLimit-Limit': limit, 'X-RateLimit-Remaining': remaining, 'X-RateLimit-Reset': reset }),
    )

  test('reads the three headers', () => {
    expect(read('60', '59', '1893456000')).toEqual({ limit: 60, remaining: 59, resetsAt: NOW })
  })

  test.each([
    ['', '59', '1893456000'],
    ['60', '-1', '1893456000'],
    ['60', '5.5', '1893456000'],
    ['60, 1000', '59', '1893456000'],
    ['60', '59', '2030-01-01'],
    ['60', '59', '9'.repeat(16)],
  ])('reads nothing from "%s", "%s" and "%s"', (...values) => {
    expect(read(...values)).toBeUndefined()
  })
})

describe('the next page', () => {
  const page = (headers: Record<string, string>) => ({ status: 200, headers: new Headers(headers) })

  test.each([
    ['</v1/pets?limit=1&cursor=a%2Bb>; rel="next"'],
    ['<?cursor=a%2Bb>; rel=next'],
    ['<?cursor=a%2Bb>;REL=NEXT'],
    ['<https://other.example/x?cursor=a%2Bb>; title="x, y"; rel="last next"'],
    ['</first>; rel="first", </v1/pets?cursor=a%2Bb>; rel="next"'],
    ['</v1/pets?cursor=a%2Bb>; rel=next, </last>; rel="last"'],
  ])('is found in the Link header %s', (link) => {
    expect(nextCursor(page({ Link: link }))).toBe('a+b')
  })

  test.each(['</v1/pets>; rel="successor-version"', '</v1/pets?cursor=a>; rel="next-archive"', 'nonsense', '<', '<>;'])(
    'is not found in the Link header %s',
    (link) => {
      expect(nextCursor(page({ Link: link }))).toBeUndefined()
    },
  )

  test('is read from X-Next-Cursor first', () => {
    const headers = { 'X-Next-Cursor': 'c', Link: '</v1/pets?cursor=d>; rel="next"' }
    expect(nextCursor(page(headers))).toBe('c')
  })

  test.each(['</v1/pets?page=2>; rel="next"', '</v1/pets?cursor=>; rel="next"', '</v1/pets?cursor=%zz>; rel="next"'])(
    'is an error if the link has no cursor: %s',
    (link) => {
      expect(() => nextCursor(page({ Link: link }))).toThrow(
        expect.objectContaining({ code: 'unexpected_response', status: 200 }),
      )
    },
  )

  test('is found in any header without an error', () => {
    const unit = fc.constantFrom('<', '>', ';', ',', '"', ' ', '=', 'rel', 'next', 'a')
    const law = fc.property(fc.string({ unit }), (link) => {
      const target = linkTarget(new Headers({ Link: link }), 'next')
      expect(target === undefined || link.includes(`<${target}`)).toBe(true)
    })
    fc.assert(law)
  })
})
