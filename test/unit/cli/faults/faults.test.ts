import { expect, test } from 'vitest'
import { checkFaultFlags } from '../../../../adapters/cli/faults/faults.ts'

test('a seed needs delays or failures to repeat', () => {
  expect(() => checkFaultFlags({ faultSeed: 7 })).toThrow('--fault-seed: expected --delay or --fail too')
})

test.each([{}, { delay: 300 }, { fail: 0.1, faultSeed: 7 }, { delay: [100, 800] as const, faultSeed: 7 }])(
  'the flags %j are accepted',
  (flags) => {
    expect(() => checkFaultFlags(flags)).not.toThrow()
  },
)
