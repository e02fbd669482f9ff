import fc from 'fast-check'
import { expect, test } from 'vitest'
import { newToken } from '../../../src/keys/token.ts'
import { readableText } from '../../../src/support/readable-text.ts'

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

const encode = (text: string) => text.replace(/./gs, (unit) => `%${unit.charCodeAt(0).toString(16).padStart(2, '0')}`)
const token = newToken()
const fixed = 'my~fixed/key%41+1'

test.each([
  ['a token', token],
  ['a percent-encoded token', encode(token)],
  ['a token with one encoded letter', token.replace('_', '%5f')],
  ['a token that is encoded twice', encode(encode(token))],
  ['a token with one letter that is encoded twice', token.replace('_', '%255F')],
  ['a token with an escape of JSON', token.replace('_', '\\u005f')],
  ['a token with encoded letters', token.replace(/[a-m]/gi, encode)],
  ['a token that is encoded three times', encode(encode(encode(token)))],
  ['a token with a letter that is encoded many times', `pet_%25252525252541${token.slice(5)}`],
  ...['%25252525255f', '&#95;', '\\x5f', '\\u{5f}', '%u005f', '\\\\u005f', '_\u200b', '＿'].map(
    (underscore): [string, string] => [`a token with the underscore ${underscore}`, token.replace('_', underscore)],
  ),
  ['a fixed key', fixed],
  ['an encoded fixed key', encode(fixed)],
  ['a password', 'postgres://app:s3cret@db'],
  ['a password without a scheme', 'app:s3cret@db'],
])('%s is masked', (_, secret) => {
  expect(readableText(`/v1/${secret}`, 200, [fixed])).toMatch(/^\/v1\/(pet_\*\*\*|\*\*\*|(postgres:\/\/)?\*\*\*@db)$/)
})

test('masks a fixed key whose first letter looks like part of a percent escape', () => {
  expect(readableText('/v1/%2dev.key~1', 200, ['dev.key~1'])).toBe('/v1/%2***')
})

test('no part of a secret is left, wherever the text is cut', () => {
  const noise = fc.string({
    unit: fc.constantFrom('a', '/', '%', '\u009b', '@', ':', token, fixed, '%41'),
    maxLength: 60,
  })
  const forms = [token, fixed, encode(token), token.replace('_', '%255f')]
  const run = fc.property(noise, fc.constantFrom(...forms), noise, fc.nat(300), (before, secret, after, length) => {
    const result = decodeAll(readableText(before + secret + after, length, [fixed]))
    expect(result).not.toContain(token.slice(4, 20))
    expect(result).not.toContain(fixed.slice(0, 8))
  })
  fc.assert(run)
})

function decodeAll(text: string): string {
  return text
    .replace(/%25/g, '%')
    .replace(/%([2-7][0-9a-f])/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
}

test('readableText shortens five million characters quickly', () => {
  // Each text costs seconds if a pattern is quadratic, or if the text is read before it is cut.
  for (const unit of ['a', 'pet_', '%25', 'a:', '://', 'a@', '\u001b', 'a:@/']) {
    expect(readableText(unit.repeat(5_000_000 / unit.length), 200)).toHaveLength(201)
  }
})
