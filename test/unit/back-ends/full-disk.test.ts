import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createLogMover } from '../../../adapters/back-ends/sqlite/full-disk.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Returns a function that counts the checkpoints after an error of a write. */
function mover(): (error: unknown) => number {
  const all = vi.fn(() => [])
  const moveLogIfFull = createLogMover({ prepare: () => ({ all, run: all }), exec: () => {} })
  return (error) => {
    moveLogIfFull(error)
    return all.mock.calls.length
  }
}

test('moves the log at most once a second while the disk stays full', () => {
  const checkpointsAfter = mover()
  const error = { code: 'SQLITE_FULL' }
  expect([checkpointsAfter(error), checkpointsAfter(error)]).toEqual([1, 1])
  vi.advanceTimersByTime(1_000)
  expect([checkpointsAfter(error), checkpointsAfter(error)]).toEqual([2, 2])
})

test.each([
  { code: 'SQLITE_IOERR_WRITE' }, // the end of a disk quota
  { errcode: 13 }, // SQLITE_FULL of node:sqlite
])('moves the log after %j', (error) => {
  expect(mover()(error)).toBe(1)
})

test.each([{ code: 'SQLITE_CONSTRAINT_CHECK' }, new TypeError('no code')])(
  'does not move the log after %j',
  (error) => {
    expect(mover()(error)).toBe(0)
  },
)
