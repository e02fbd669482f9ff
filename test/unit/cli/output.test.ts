import { expect, onTestFinished, test, vi } from 'vitest'
import { loggedPath, logTo } from '../../../adapters/cli/log.ts'
import { escaped } from '../../../adapters/cli/output.ts'
import { PetStoreError } from '../../../src/errors.ts'
import { newToken } from '../../../src/keys/token.ts'

test('leaves secrets and control characters out of the path in a log', () => {
  const token = newToken()
  expect(loggedPath(`http://a/v1/${token}?key=${token}`)).toBe('/v1/pet_***')
  expect(loggedPath(`/${token.replace('pe', '%70%65').replace('_', '%5f')}%1b`)).toBe('/pet_***%1b')
  expect(loggedPath(`/${'a'.repeat(300)}`)).toBe(`/${'a'.repeat(199)}…`)
  expect(loggedPath(`/${'a'.repeat(180)}${token}`)).not.toContain(token.slice(0, 12))
  expect(escaped('\u009b\u202e\n\u{e0001}')).toBe('\\u009b\\u202e\\n\\udb40\\udc01')
})

test('logs a fault without control characters, and names the flag for a proxy', () => {
  const lines = vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(() => lines.mockRestore())
  const { onError } = logTo(undefined)
  onError?.(new Error('a\u009b31m'), { method: 'GET', target: '/' })
  onError?.(new PetStoreError('untrusted_forwarded_for', 'set trustProxy: false'), {})
  expect(lines.mock.calls).toEqual([
    [expect.stringMatching(/^petstore: GET \/ failed: Error: a\\u009b31m\n {4}at /)],
    ['petstore: set --trust-proxy false'],
  ])
})
