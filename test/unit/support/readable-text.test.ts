import fc from 'fast-check'
import { expect, test } from 'vitest'
import { newToken } from '../../../src/keys/token.ts'
import { readableLines, readableText } from '../../../src/support/readable-text.ts'

const token = newToken()
const fixed = 'my~fixed/key%41+1'
const fixedStart = fixed.slice(0, 6)

test.each([
  ['a terminal escape', '\u001b[31mred', '\\u001b[31mred'],
  ['a C1 control', 'a\u009bb', 'a\\u009bb'],
  ['a line break', 'a\r\nb', 'a\\u000d\\u000ab'],
  ['a change of the text direction', 'a\u202eb\u2066', 'a\\u202eb\\u2066'],
  ['plain text of any script', 'Zoë 🐕 שלום "x\\y"', 'Zoë 🐕 שלום "x\\y"'],
])('readableText makes this readable: %s', (_, text, expected) => {
  expect(readableText(text, 100)).toBe(expected)
})

test('readableText shortens any text and leaves no hidden character in it', () => {
  const run = fc.property(fc.string({ unit: 'binary' }), fc.nat(40), (text, length) => {
    const result = readableText(text, length)
    expect(result.length).toBeLessThanOrEqual(length + 1)
    expect(result).not.toMatch(/[\p{Cc}\u2028\u2029\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/u)
  })
  fc.assert(run)
})

test('readableLines keeps line breaks and tabs', () => {
  expect(readableLines('a\r\n\tb\u001b\n', 100)).toBe('a\n\tb\\u001b\n')
})

test.each([
  ['a token', `/v1/${token}/x`, '/v1/pet_***/x'],
  ['a fixed key', `/v1/${fixed}/x`, '/v1/***/x'],
  ['a fixed key after a token', `${token}${fixed}`, 'pet_******'],
  ['a word with the prefix', 'the column pet_name', 'the column pet_name'],
  ['backslashes and percent escapes', '\\u0041 %41 &#65;', '\\u0041 %41 &#65;'],
])('masks secrets as they stand: %s', (_, text, expected) => {
  expect(readableText(text, 200, [fixed, 'short'])).toBe(expected)
})

test.each([
  ['postgres://app:s3cret@db/pets', 'postgres://***@db/pets'],
  ["connect to 'postgres://app:it's@db' failed", "connect to 'postgres://***@db' failed"],
  ['{"url":"redis://:a"b`c@db"}', '{"url":"redis://***@db"}'],
  ['postgres://app:a/b?c#d@e@db', 'postgres://***@db'],
  ['https://token@example.com/x', 'https://***@example.com/x'],
  ['//app:s3cret@db', '//***@db'],
  ['at file:///C:/node_modules/@scope/index.js:1:2', 'at file:///C:/node_modules/@scope/index.js:1:2'],
  ['at https://deno.land/std@1.0/mod.ts:1:2', 'at https://deno.land/std@1.0/mod.ts:1:2'],
  ['http://localhost:3000/v1 from a@b', 'http://localhost:3000/v1 from a@b'],
])('masks the password of a URL, whatever its quotation marks: %s', (text, expected) => {
  expect(readableText(text, 200)).toBe(expected)
})

test('masks a secret that the cut divides', () => {
  const url = "postgres://app:it's-a-s3cret@db"
  for (const secret of [token, fixed, url])
    for (let length = 0; length < 120; length++) {
      const result = readableText(`${'a'.repeat(30)} ${secret} ${secret}`, length, [fixed])
      expect(result).not.toMatch(/pet_\w|app:|it's/)
      expect(result).not.toContain(fixedStart)
    }
})

test('no part of a secret is left, wherever the text is cut', () => {
  const part = fc.constantFrom('a', '/', '%', '\\', '\u009b', '@', ':', ' ', '//', token, fixed, 'pet_')
  const run = fc.property(fc.array(part, { maxLength: 40 }), fc.nat(300), (parts, length) => {
    const result = readableText(parts.join(''), length, [fixed])
    expect(result).not.toContain(token.slice(4, 20))
    expect(result).not.toContain(fixedStart)
  })
  fc.assert(run)
})

test.each(['a', 'pet_', 'pet_a-', '%25', '\\', 'a:', '://', 'a@', '\u001b', 'a:@/', ' //a:'])(
  'reads no more of a hostile text than it shows: %j',
  (unit) => {
    const long = unit.repeat(5_000_000 / unit.length)
    expect(readableText(long, 200)).toBe(readableText(long.slice(0, 201), 200))
  },
)

test('leaves a long run of backslashes as it is', () => {
  const backslashes = '\\'.repeat(21_000)
  expect(readableLines(backslashes, 30_000, [fixed])).toBe(backslashes)
})
