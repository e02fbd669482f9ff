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

async function linesOf(lines: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = []
  for await (const line of lines) all.push(line)
  return all
}

test('a table reads its items when they are needed, and widens a column for later ones', async () => {
  let count = 0
  const items = function* () {
    while (count < 3_000) yield count++
  }
  const table = tableLines(['NUMBER', 'NAME'], items(), (i) => [i < 2_000 ? `${i}` : 'longer than NUMBER', '\u001b[2J'])
  expect([(await table.next()).value, (await table.next()).value]).toEqual(['NUMBER  NAME', '0       \\u001b[2J'])
  expect(count).toBeLessThan(1_001)
  expect((await linesOf(table)).at(-1)).toBe('longer than NUMBER  \\u001b[2J')
})

test('a table without items has no line', async () => {
  expect(await linesOf(tableLines(['NUMBER'], [], () => []))).toEqual([])
})
