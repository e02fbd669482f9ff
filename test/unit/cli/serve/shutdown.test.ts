import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { closeOnSignal, drainDelayOf } from '../../../../adapters/cli/serve/shutdown.ts'
import { parseSeconds, type ServeFlags } from '../../../../adapters/cli/terminal/flags.ts'

const flags: ServeFlags = { port: 0, host: '127.0.0.1', basePath: '/v1', planLimits: {} }
const { isTTY } = process.stdin

afterEach(() => {
  process.stdin.isTTY = isTTY
})

test.each([
  ['a server in memory', {}, false, 0],
  ['a server with a file', { data: 'pets.db' }, false, 5_000],
  ['a server with a database', { databaseUrl: 'postgres://a/b' }, false, 5_000],
  ['a server at a terminal', { data: 'pets.db' }, true, 0],
  ['a server with --drain-delay', { data: 'pets.db', drainDelay: 0 }, false, 0],
  ['a server with --drain-delay at a terminal', { drainDelay: 1_000 }, true, 1_000],
])('drainDelayOf returns the delay of %s', (_title, more, isTerminal, expected) => {
  process.stdin.isTTY = isTerminal
  expect(drainDelayOf({ ...flags, ...more })).toBe(expected)
})

test('parseSeconds returns milliseconds', () => {
  expect(['0', '5', '0.25'].map(parseSeconds)).toEqual([0, 5_000, 250])
  for (const text of ['', '-1', '5s', '.5', '1e3', '3601']) expect(() => parseSeconds(text)).toThrow('seconds')
})

test('a signal that arrives again within a second does not end the process', () => {
  const exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never)
  const print = vi.spyOn(console, 'error').mockImplementation(() => {})
  const before = process.listeners('SIGTERM')
  let time = 5_000
  const never = () => new Promise<void>(() => {})
  closeOnSignal(0, never, never, () => time)
  const [onSignal] = process.listeners('SIGTERM').filter((one) => !before.includes(one))
  onTestFinished(() => {
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, onSignal as () => void)
    exit.mockRestore()
    print.mockRestore()
  })
  const signal = () => (onSignal as () => void)()
  signal()
  time += 999
  signal()
  expect(exit).not.toHaveBeenCalled()
  time += 1
  signal()
  expect(exit).toHaveBeenCalledWith(1)
})
