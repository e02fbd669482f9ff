import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ApiRequest, isBelow, originForm, readTarget } from '../../../src/http/request.ts'

/** A path with a query; both may contain text that looks like a part of a URL. */
const origin = fc
  .array(fc.oneof(fc.constantFrom('/', '?', '://', 'http://a', '@'), fc.string()))
  .map((parts) => `/${parts.join('')}`.replaceAll('#', ''))
const fragment = fc.oneof(
  fc.constant(''),
  fc.string().map((text) => `#${text}`),
)

test('originForm removes scheme, authority and fragment', () => {
  const scheme = fc.stringMatching(/^[A-Za-z][A-Za-z0-9+.-]*$/)
  const authority = fc.string().map((text) => text.replaceAll(/[/?#]/g, ''))
  const before = fc.oneof(
    fc.constant(''),
    fc.tuple(scheme, authority).map((parts) => parts.join('://')),
  )
  fc.assert(
    fc.property(before, origin, fragment, (before, target, fragment) => {
      expect(originForm(before + target + fragment)).toBe(target)
    }),
  )
})

test.each(['/v1', '/v1/', '/v1/pets'])('the path %s is at or below /v1', (path) => {
  expect(isBelow(path, '/v1')).toBe(true)
})

test.each(['/v1pets', '/v', '/shop/v1'])('the path %s is not below /v1', (path) => {
  expect(isBelow(path, '/v1')).toBe(false)
})

test('needless escapes are removed from paths of up to 2,000 characters', () => {
  const pathOf = (target: string) => readTarget({ target } as ApiRequest, '/v1').path
  expect(pathOf(`/${'%41'.repeat(666)}/?%41`)).toBe(`/${'A'.repeat(666)}/`)
  expect(pathOf(`/${'%41'.repeat(667)}`)).toBe(`/${'%41'.repeat(667)}`)
})
