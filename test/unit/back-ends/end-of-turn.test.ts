import { expect, onTestFinished, test, vi } from 'vitest'
import { atEndOfTurn } from '../../../adapters/back-ends/shared/end-of-turn.ts'

test('atEndOfTurn calls its callback while fake timers are active', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  await new Promise<void>(atEndOfTurn)
})

test('atEndOfTurn calls its callback if its module was loaded under fake timers', async () => {
  vi.resetModules()
  onTestFinished(() => {
    vi.unstubAllGlobals()
    vi.resetModules()
  })
  vi.stubGlobal('setImmediate', () => ({}))
  vi.stubGlobal('clearImmediate', () => {})
  const module = await import('../../../adapters/back-ends/shared/end-of-turn.ts')
  expect(module.atEndOfTurn).not.toBe(atEndOfTurn)
  await new Promise<void>(module.atEndOfTurn)
})
