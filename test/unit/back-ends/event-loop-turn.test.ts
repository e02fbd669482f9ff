import { expect, onTestFinished, test, vi } from 'vitest'
import { atEndOfEventLoopTurn } from '../../../adapters/back-ends/shared/event-loop-turn.ts'

test('atEndOfEventLoopTurn calls its callback while fake timers are active', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  await new Promise<void>(atEndOfEventLoopTurn)
})

test('atEndOfEventLoopTurn calls its callback if its module was loaded under fake timers', async () => {
  vi.resetModules()
  onTestFinished(() => {
    vi.unstubAllGlobals()
    vi.resetModules()
  })
  vi.stubGlobal('setImmediate', () => ({}))
  vi.stubGlobal('clearImmediate', () => {})
  const module = await import('../../../adapters/back-ends/shared/event-loop-turn.ts')
  expect(module.atEndOfEventLoopTurn).not.toBe(atEndOfEventLoopTurn)
  await new Promise<void>(module.atEndOfEventLoopTurn)
})
