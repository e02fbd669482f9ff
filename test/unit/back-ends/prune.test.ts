import { afterEach, expect, test, vi } from 'vitest'
import { pruneSchedule } from '../../../adapters/back-ends/shared/prune.ts'

afterEach(() => void vi.restoreAllMocks())

test('a deletion is due once in 500 uses, and the first one is random', () => {
  for (const [random, first] of [
    [0, 0],
    [0.5, 250],
    [0.999, 499],
  ] as const) {
    vi.spyOn(Math, 'random').mockReturnValue(random)
    const isDue = pruneSchedule()
    const due = Array.from({ length: 1_000 }, () => isDue()).flatMap((value, index) => (value ? [index] : []))
    expect(due).toEqual([first, first + 500])
  }
})

test('several uses at once make one deletion due', () => {
  const isDue = pruneSchedule()
  expect([isDue(1_200), isDue(499), isDue(1)]).toEqual([true, false, true])
})
