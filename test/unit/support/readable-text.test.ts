import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readableText } from '../../../src/support/readable-text.ts'

test.each([
  ['a terminal escape', '\u001b[31mred', '\\u001b[31mred'],
  ['a C1 control', 'a\u009bb', 'a\\u009bb'],
  ['a line break', 'a\r\nb', 'a\\u000d\\u000ab'],
  ['a change of the text direction', 'a\u202eb\u2066', 'a\\u202eb\\u2066'],
  ['plain text of any script', 'Zoë 🐕 שלום "x\\y"', 'Zoë 🐕 שלום "x\\y"'],
])('%s becomes readable', (_, text, expected) => {
  expect(readableText(text, 100)).toBe(expected)
})

test('whatever the text, the result is short and has no hidden character', () => {
  const run = fc.property(fc.string({ unit: 'binary' }), fc.nat(40), (text, length) => {
    const result = readableText(text, length)
    expect(result.length).toBeLessThanOrEqual(length + 1)
    expect(result).not.toMatch(/[\p{Cc}\u2028\u2029\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/u)
  })
  fc.assert(run)
})
