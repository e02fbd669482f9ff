import { afterEach, expect, test } from 'vitest'
import { parseSeconds, type ServeFlags } from '../../../adapters/cli/flags.ts'
import { drainDelayOf } from '../../../adapters/cli/shutdown.ts'

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
