import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mediaTypeError } from '../../../src/http/media-type.ts'

const statusOf = (contentType: string) =>
  mediaTypeError({ header: (name) => (name === 'content-type' ? contentType : undefined) })?.status ?? 'accepted'

test.each([
  'application/json',
  'Application/JSON',
  ' application/json\t',
  '\t application/json',
  'application/json;',
  'application/json ; ; charset=UTF-8;',
  'application/json;charset="utf-8"',
  'application/json; charset="utf\\-8"',
  'application/json; charset=utf8',
  'application/json; charset="UTF8"',
  'application/json; charset=unicode-1-1-utf-8',
  'application/json; version=1',
  'application/json; profile="x"',
  'application/json; profile="https://a.example/x?a=1;b"; charset=utf-8',
  'application/json; q="a \\" ; charset=latin1"',
  'application/json; a=1; A=2',
  'application/json; a=""',
  `application/json; a=${'x'.repeat(236)}`,
])('accepts %j', (contentType) => {
  expect(statusOf(contentType)).toBe('accepted')
})

test.each([
  '',
  'text/plain',
  '\ufeffapplication/json',
  'application/json\u00a0',
  'application/jsonx',
  'application /json',
  'application/json-patch+json',
  'application/vnd.api+json',
  'application/json; charset=latin1',
  'application/json; charset=utf-80',
  'application/json; charset=utf16',
  'application/json; charset=""',
  'application/json; charset="\\"utf-8\\""',
  'application/json; version=1; CHARSET="iso-8859-1"',
  'application/json; charset=utf-8; charset=utf-16',
  'application/json, text/plain',
  'application/json, application/json',
  'application/json version=1',
  'application/json; version',
  'application/json; version = 1',
  'application/json; a=1; b=2 c',
  'application/json; a="x',
  'application/json; a="x\\"',
  'application/json; a=x"y"',
  `application/json; a=${'x'.repeat(237)}`,
])('rejects %j with 415', (contentType) => {
  expect(statusOf(contentType)).toBe(415)
})

test.each([
  ['', 'accepted'],
  ['Identity', 'accepted'],
  [', identity,\tidentity ,', 'accepted'],
  ['identity, gzip', 415],
])('the Content-Encoding %j is %s', (coding, expected) => {
  const headers: Record<string, string> = { 'content-type': 'application/json', 'content-encoding': coding }
  expect(mediaTypeError({ header: (name) => headers[name] })?.status ?? 'accepted').toBe(expected)
})

test.each([
  [{}, 'expected application/json, got nothing'],
  [{ 'content-type': 'text/plain' }, 'expected application/json, got the string "text/plain"'],
  [
    { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    'expected no Content-Encoding, got the string "gzip"',
  ],
])('the error about the headers %j says what was expected and received', (headers: Record<string, string>, reason) => {
  const { message } = JSON.parse(mediaTypeError({ header: (name) => headers[name] })?.body ?? '')
  expect(message).toBe(`The body must be application/json in UTF-8: ${reason}.`)
})

const token = fc.stringMatching(/^[\w!#$%&'*+.^`|~-]{1,12}$/)
const quoted = fc.stringMatching(/^(?:[\w ;,=/:]|\\["\\]){0,12}$/).map((text) => `"${text}"`)

test('ignores every parameter except charset', () => {
  const name = token.filter((text) => text.toLowerCase() !== 'charset')
  const parameters = fc.array(fc.tuple(name, fc.oneof(token, quoted)), { maxLength: 6 })
  fc.assert(
    fc.property(parameters, fc.constantFrom('utf-8', 'utf-16'), (others, charset) => {
      const type = ['application/json', ...others.map(([key, value]) => `${key}=${value}`), `charset=${charset}`].join(
        '; ',
      )
      expect(statusOf(type)).toBe(charset === 'utf-8' ? 'accepted' : 415)
    }),
  )
})
