import { expect, onTestFinished, test, vi } from 'vitest'
import { loggedPath } from '../../../adapters/cli/log.ts'
import { escaped, progressBar } from '../../../adapters/cli/output.ts'
import { closingMessage } from '../../../adapters/cli/shutdown.ts'
import { newToken } from '../../../src/keys/token.ts'

/** Makes standard error look like a terminal, and returns a spy on its `write`. */
function terminal(columns: number, term = 'xterm') {
  const { stderr } = process
  const own = { isTTY: stderr.isTTY, columns: stderr.columns }
  const write = vi.spyOn(stderr, 'write').mockReturnValue(true)
  vi.stubEnv('TERM', term)
  onTestFinished(() => {
    Object.assign(stderr, own)
    write.mockRestore()
    vi.unstubAllEnvs()
  })
  Object.assign(stderr, { isTTY: true, columns })
  return write
}

/** Returns the text that a progress bar writes to a terminal with a number of columns. */
function draw(columns: number, done: number, total: number): string {
  const write = terminal(columns)
  progressBar(total).show(done)
  return String(write.mock.lastCall?.[0])
}

// Node reports 0 columns if the width is unknown.
test.each([80, 0])('draws the whole progress bar in a terminal with %i columns', (columns) => {
  expect(draw(columns, 5, 10)).toBe('\r[###############...............]  50 %  5 of 10')
})

test.each([1, 20, 30, 40])('fits the progress bar into one line of %i columns', (columns) => {
  const line = draw(columns, 500, 1_000).slice(1)
  expect(line).toContain(' 50 %  500 of 1000')
  expect(line.includes('[')).toBe(columns > 25)
  if (columns > 20) expect(line.length).toBeLessThan(columns)
})

test('erases the progress bar when the work is done', () => {
  const write = terminal(80)
  progressBar(10).end()
  expect(write.mock.calls).toEqual([['\r\x1b[K']])
})

test.each([
  ['a total of 0', 'xterm', 0],
  ['a dumb terminal', 'dumb', 10],
])('draws no progress bar for %s', (_, term, total) => {
  const write = terminal(80, term)
  const bar = progressBar(total)
  bar.show(0)
  bar.end()
  expect(write).not.toHaveBeenCalled()
})

test('leaves secrets and control characters out of the path in a log', () => {
  const token = newToken()
  expect(loggedPath(`http://a/v1/${token}?key=${token}`)).toBe('/v1/pet_***')
  expect(loggedPath(`/${'a'.repeat(300)}`)).toBe(`/${'a'.repeat(199)}…`)
  expect(loggedPath(`/${'a'.repeat(180)}${token}`)).not.toContain(token.slice(0, 12))
  expect(escaped('\u009b\u202e\n\u{e0001}')).toBe('\\u009b\\u202e\\n\\udb40\\udc01')
})

test('lists the requests that the closing server waits for', () => {
  const requests = [
    { method: 'POST', target: '/v1/pets\u001b' },
    { method: 'GET', target: '/v1/pets' },
  ]
  expect(closingMessage([])).toBe('Closing.')
  expect(closingMessage(requests)).toContain('up to 10 seconds for POST /v1/pets\\u001b and 1 more to finish.')
})
