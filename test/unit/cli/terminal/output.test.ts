import { expect, onTestFinished, test, vi } from 'vitest'
import { logTo } from '../../../../adapters/cli/serve/log.ts'
import { tableLines } from '../../../../adapters/cli/terminal/output.ts'
import { PetStoreError } from '../../../../src/errors.ts'
import { newToken } from '../../../../src/keys/token.ts'

/** Returns the lines that a log prints for a request with this target. */
function linesFor(target: string, format: 'text' | 'json' = 'text', secrets: readonly string[] = []): string {
  const print = vi.spyOn(console, 'log').mockImplementation(() => {})
  const { onResponse } = logTo(format, secrets)
  onResponse?.({ method: 'GET', target, status: 200, replayed: false, durationMs: 1 })
  const [line] = print.mock.calls.flat()
  print.mockRestore()
  return String(line)
}

test('the log leaves secrets and control characters out of a path', () => {
  const token = newToken()
  expect(linesFor(`http://a/v1/${token}?key=${token}`)).toContain(' 200 GET /v1/pet_*** unknown address no key 1 ms')
  expect(linesFor('/my-fixed-key/my%2dfixed%2Dkey', 'json', ['my-fixed-key'])).toContain(
    '"target":"/***/my%2dfixed%2Dkey"',
  )
  expect(linesFor(`/${'a'.repeat(300)}`)).toContain(` /${'a'.repeat(199)}… `)
  expect(linesFor(`/${'a'.repeat(180)}${token}`)).not.toContain(token.slice(0, 12))
  expect(linesFor('/\u009b\u202e\n')).toContain(' /\\u009b\\u202e\\u000a ')
  expect(linesFor('/\u009b\u202e', 'json')).toContain('"/\\u009b\\u202e"')
})

test.each(['text', 'json'] as const)('the log cuts a long path before it searches for secrets: %s', (format) => {
  const replace = vi.spyOn(String.prototype, 'replace')
  const target = `/${'a:@'.repeat(5_000)}`
  linesFor(target, format)
  const longest = Math.max(...replace.mock.contexts.map((text) => String(text).length))
  replace.mockRestore()
  expect(longest).toBeLessThan(2_000)
})

test('logs errors without control characters, and with the names of flags instead of options', () => {
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

test('logs the notice about a proxy as a warning without a stack', () => {
  const lines = vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(() => lines.mockRestore())
  logTo('json').onError?.(new PetStoreError('untrusted_forwarded_for', 'set trustProxy: false'), {})
  expect(JSON.parse(String(lines.mock.calls[0]))).toEqual({
    time: expect.any(String),
    level: 'warn',
    error: 'set --trust-proxy false',
  })
})

test('a table has room for more rows than a function takes arguments', () => {
  const rows = Array.from({ length: 200_000 }, (_, i) => i)
  const lines = [...tableLines(['NUMBER', 'NAME'], rows, (i) => [String(i), '\u001b[2J'])]
  expect([lines.length, lines[0], lines[1]]).toEqual([200_001, 'NUMBER  NAME', '0       \\u001b[2J'])
})
