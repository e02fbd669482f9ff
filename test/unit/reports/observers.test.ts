import { expect, onTestFinished, test, vi } from 'vitest'
import { logError, MAX_FAULT, MAX_PATH, readableError } from '../../../src/reports/observers.ts'

/** Returns an error with this stack, as the runtime of the test would print it. */
function errorWith(stack: string, members: object = {}): Error {
  return Object.assign(new Error('down'), { stack, ...members })
}

const revoked = Proxy.revocable({}, {})
revoked.revoke()

test.each<[string, unknown, string]>([
  ['its stack', errorWith('Error: down\n at a'), 'Error: down\n at a'],
  ['its message, if the stack lacks it', errorWith(' at a'), 'Error: down\n at a'],
  [
    'its own members',
    errorWith('Error: down', { name: 'Lost', code: 'E1', at: null, detail: {} }),
    'Error: down\n    code: E1\n    at: null\n    detail: an object',
  ],
  [
    'its causes',
    errorWith('Error: down', { cause: errorWith('down 1', { errors: [errorWith('down 2'), 'text'] }) }),
    'Error: down\ncaused by down 1\ncaused by down 2\ncaused by text',
  ],
  [
    'at most five errors',
    errorWith('down 0', { errors: [1, 2, 3, 4, 5, 6] }),
    'down 0\ncaused by 1\ncaused by 2\ncaused by 3\ncaused by 4',
  ],
  ['at most 20,000 characters', 'x'.repeat(MAX_FAULT + 1), `${'x'.repeat(MAX_FAULT)}…`],
  ['nothing but its text, if it is no error', undefined, 'undefined'],
  ['that it cannot be read', revoked.proxy, 'an error that cannot be read'],
])('the log shows of an error: %s', (_, error, text) => {
  expect(readableError(error)).toBe(text)
})

test.each([
  [{}, ''],
  [{ method: 'GET' }, 'GET  '],
  [{ method: 'GET', target: 'http://a/v1/pets?key=secret#x' }, 'GET /v1/pets '],
  [{ method: 'GET', target: `/${'x'.repeat(MAX_PATH)}` }, `GET /${'x'.repeat(MAX_PATH - 5)}…`],
])('the log shows the method and the path of %j', (report, text) => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(() => log.mockRestore())
  logError('lost', report)
  expect(log.mock.calls).toEqual([[`petstore-kit: ${text}failed: lost`]])
})
