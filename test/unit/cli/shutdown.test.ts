import { afterEach, expect, test } from 'vitest'
import { parseSeconds, type ServeFlags } from '../../../adapters/cli/flags.ts'
import { drainDelayOf } from '../../../adapters/cli/shutdown.ts'

const flags: ServeFlags = { port: 0, host: '127.0.0.1', basePath: '/v1', planLimits: {} }
const { isTTY } = process.stdin

afterEach(() => {
  process.stdin.isTTY = isTTY
})

test.each([
  ['in memory', {}, false, 0],
  ['with a file', { data: 'pets.db' }, false, 5_000],
  ['with a database', { databaseUrl: 'postgres://a/b' }, false, 5_000],
  ['at a terminal', { data: 'pets.db' }, true, 0],
  ['with the flag', { data: 'pets.db', drainDelay: 0 }, false, 0],
  ['with the flag at a terminal', { drainDelay: 1_000 }, true, 1_000],
])('drainDelayOf returns the delay of a server %s', (_title, more, isTerminal, expected) => {
  process.stdin.isTTY = isTerminal
  expect(drainDelayOf({ ...flags, ...more })).toBe(expected)
})

test('parseSeconds returns milliseconds', () => {
  expect(['0', '5', '0.25'].map(parseSeconds)).toEqual([0, 5_000, 250])
  for (const text of ['', '-1', '5s', '.5', '1e3', '3601']) expect(() => parseSeconds(text)).toThrow('seconds')
})
