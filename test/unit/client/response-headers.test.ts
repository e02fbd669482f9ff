import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseHttpDate, readRetryAfter } from '../../../src/client/response-headers.ts'

const NOW = Date.UTC(2030, 0, 1)

describe('readRetryAfter', () => {
  test.each([
    ['7', 7],
    ['0', 0],
    [' 7 ', 7],
    ['299.997', 300],
    ['5.0', 5],
    ['1.5', 2],
    ['5.', 5],
    ['+5', 5],
    ['"5"', 5],
    ['5;comment', 5],
    ['5 seconds', 5],
    ['5s', 5],
    ['5, 5', 5],
    ['5,60, 7;x', 60],
    ['x, 5', 5],
    ['Tue, 01 Jan 2030 00:00:09 GMT', 9],
    ['Tuesday, 01-Jan-30 00:00:09 GMT', 9],
    ['Tue Jan  1 00:00:09 2030', 9],
    ['Tue, 01 Jan 2030 00:00:09 GMT, Tue, 01 Jan 2030 00:01:00 GMT', 60],
    ['5, Tue, 01 Jan 2030 00:00:09 GMT', 9],
    ['Mon, 31 Dec 2029 23:00:00 GMT', 0],
  ])('reads "%s" as %i seconds', (value, seconds) => {
    expect(readRetryAfter(value, NOW)).toBe(seconds)
  })

  test.each(['', 'soon', '-5', '2030-01-01', '2030-01-01T00:00:09Z', '01/02/2030', '1:30', 'May 5', 'NaN', ',', ';5'])(
    'finds no time in "%s"',
    (value) => {
      expect(readRetryAfter(value, NOW)).toBeUndefined()
    },
  )

  test('finds no time without the header', () => {
    expect(readRetryAfter(null, NOW)).toBeUndefined()
  })

  test('never returns less than any member of a list asks for', () => {
    const member = fc.oneof(
      fc.nat(100_000).map(String),
      fc.double({ min: 0, max: 1e5, noNaN: true }).map((n) => n.toFixed(3)),
    )
    const law = fc.property(fc.array(member, { minLength: 1, maxLength: 5 }), (members) => {
      const seconds = readRetryAfter(members.join(', '), NOW) ?? Number.NaN
      expect(seconds).toBe(Math.ceil(Math.max(...members.map(Number))))
    })
    fc.assert(law)
  })

  test('reads any text without an error', () => {
    const law = fc.property(
      fc.string({ unit: fc.constantFrom(...'0123456789 .,:;+-"GMTueJan', '\u0000', 'é') }),
      (text) => {
        const seconds = readRetryAfter(text, NOW)
        expect(seconds === undefined || seconds >= 0).toBe(true)
      },
    )
    fc.assert(law)
  })
})

test.each(['5', '2030', '1.5', '2030-01-01', 'yesterday', ''])('parseHttpDate does not read "%s" as a date', (text) => {
  expect(parseHttpDate(text)).toBeNaN()
})
