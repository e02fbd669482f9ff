import { expect, test } from 'vitest'
import { loggedPath } from '../../../adapters/cli/log.ts'
import { escaped } from '../../../adapters/cli/output.ts'
import { newToken } from '../../../src/keys/token.ts'

test('leaves secrets and control characters out of the path in a log', () => {
  const token = newToken()
  expect(loggedPath(`http://a/v1/${token}?key=${token}`)).toBe('/v1/pet_***')
  expect(loggedPath(`/${token.replace('pe', '%70%65').replace('_', '%5f')}%1b`)).toBe('/pet_***%1b')
  expect(loggedPath(`/${'a'.repeat(300)}`)).toBe(`/${'a'.repeat(199)}…`)
  expect(loggedPath(`/${'a'.repeat(180)}${token}`)).not.toContain(token.slice(0, 12))
  expect(escaped('\u009b\u202e\n\u{e0001}')).toBe('\\u009b\\u202e\\n\\udb40\\udc01')
})
