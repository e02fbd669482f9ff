import { expect, onTestFinished, test, vi } from 'vitest'
import { atEndOfTurn } from '../../../adapters/back-ends/shared/end-of-turn.ts'

test('calls the function under fake timers', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  await new Promise<void>(atEndOfTurn)
})

test('calls the function if fake timers were installed first', async () => {
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
