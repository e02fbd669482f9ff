import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { memory, readyCheck } from '../../src/index.ts'

const quiet = { onFailure: () => {} }

describe('readyCheck', () => {
  test('readyCheck returns no names if every part responds', async () => {
    expect(await readyCheck(memory(), quiet)()).toEqual([])
  })

  test('readyCheck returns the names of the parts that fail', async () => {
    const onFailure = vi.fn()
    const backEnd = memory()
    const [late, away] = [new Error('late'), new Error('away')]
    const list = () => Promise.reject(late)
    const spend = () => {
      throw away
    }
    const check = readyCheck({ ...backEnd, storage: { ...backEnd.storage, list }, quota: { spend } }, { onFailure })
    expect(await check()).toEqual(['storage', 'quota'])
    expect(onFailure.mock.calls).toEqual([
      ['quota', away],
      ['storage', late],
    ])
  })

  test('readyCheck returns the name of a part that responds too late', async () => {
    const find = () => new Promise<never>(() => {})
    const backEnd = memory()
    const check = readyCheck({ ...backEnd, keyStore: { find } }, { ...quiet, timeout: 1 })
    expect(await check()).toEqual(['keys'])
  })

  test('readyCheck reuses a result for one second', async () => {
    const backEnd = memory()
    let [now, calls] = [1_000, 0]
    const list = () => {
      calls += 1
      return []
    }
    const check = readyCheck(
      { ...backEnd, storage: { ...backEnd.storage, list } },
      { ...quiet, clock: { now: () => now } },
    )
    await Promise.all([check(), check()])
    await check()
    expect(calls).toBe(1)
    now += 1_000
    await check()
    expect(calls).toBe(2)
  })

  test('readyCheck logs a failing part by default', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    onTestFinished(() => log.mockRestore())
    const find = () => Promise.reject(new Error('postgres://app:s3cret@db is away \u009b'))
    expect(await readyCheck({ ...memory(), keyStore: { find } })()).toEqual(['keys'])
    expect(log.mock.calls).toEqual([
      [expect.stringContaining('petstore-kit: not ready: keys: Error: postgres://***@db')],
    ])
    expect(log.mock.lastCall?.[0]).toContain('is away \\u009b')
  })

  test.each([
    [
      'a thrown error',
      () => {
        throw new Error('broken')
      },
    ],
    ['a rejected promise', () => Promise.reject(new Error('broken'))],
  ])('readyCheck returns its result even if onFailure fails with %s', async (_, onFailure) => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    onTestFinished(() => log.mockRestore())
    const find = () => Promise.reject(new Error('away'))
    expect(await readyCheck({ ...memory(), keyStore: { find } }, { onFailure })()).toEqual(['keys'])
    expect(log.mock.calls).toEqual([
      [expect.stringContaining('not ready: keys: Error: away')],
      [expect.stringContaining('onFailure failed: Error: broken')],
    ])
  })

  test('readyCheck rejects an unknown option', () => {
    expect(() => readyCheck(memory(), { timeOut: 5 } as object)).toThrow('did you mean timeout?')
  })
})
