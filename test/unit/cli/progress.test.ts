import { expect, onTestFinished, test, vi } from 'vitest'
import { progressBar } from '../../../adapters/cli/progress.ts'

/** What is drawn on a terminal of so many columns. */
function draw(columns: number, done: number, total: number): string {
  const { stderr } = process
  const own = { isTTY: stderr.isTTY, columns: stderr.columns }
  const write = vi.spyOn(stderr, 'write').mockReturnValue(true)
  vi.stubEnv('TERM', 'xterm')
  onTestFinished(() => {
    Object.assign(stderr, own)
    write.mockRestore()
    vi.unstubAllEnvs()
  })
  Object.assign(stderr, { isTTY: true, columns })
  progressBar(total).show(done)
  return String(write.mock.lastCall?.[0])
}

test('the bar of a seed', () => {
  const whole = '\r[###############...............]  50 %  5 of 10'
  expect(draw(80, 5, 10)).toBe(whole)
  // Where nobody knows how wide the terminal is.
  expect(draw(0, 5, 10)).toBe(whole)
})

test.each([1, 20, 30, 40])('the bar stays on its line in %i columns', (columns) => {
  const line = draw(columns, 500, 1_000).slice(1)
  expect(line).toContain(' 50 %  500 of 1000')
  expect(line.includes('[')).toBe(columns > 25)
  if (columns > 20) expect(line.length).toBeLessThan(columns)
})
