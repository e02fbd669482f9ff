import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type BatchOptions, inBatches } from '../../../adapters/back-ends/postgres/batches.ts'

/** Simulates a database whose statements stay pending until the test completes them. */
function heldEngine() {
  const sent: { inputs: readonly string[]; complete(): void; fail(error: unknown): void }[] = []
  const send = (inputs: readonly string[]) =>
    new Promise<string[]>((resolve, reject) => {
      sent.push({ inputs, complete: () => resolve(inputs.map((input) => input.toUpperCase())), fail: reject })
    })
  const call = inBatches({ send, lockTimeout: 1_000, maxSize: 3, sizeOf: () => 1 })
  /** Completes the statement that was sent at this index, then waits until its calls have settled. */
  const complete = async (index: number) => {
    sent[index]?.complete()
    await settle()
  }
  return { sent, call, complete, inputs: () => sent.map(({ inputs }) => inputs.join('')) }
}

// Saved before a test starts fake timers, which replace the global function.
const runtimeSetImmediate = setImmediate
const settle = () => new Promise((resolve) => runtimeSetImmediate(resolve))

/** What PostgreSQL reports for a value that a constraint rejects. */
const REJECTED = Object.assign(new Error('refused'), { code: '23514' })

describe('batches', () => {
  test('sends the calls of one turn of the event loop in one statement', async () => {
    const { call, complete, inputs } = heldEngine()
    const results = Promise.all(['a', 'b'].map((input) => call(input)))
    await settle()
    const later = Promise.all(['c', 'd'].map((input) => call(input)))
    await settle()
    expect(inputs()).toEqual(['ab'])
    await complete(0)
    expect(inputs()).toEqual(['ab', 'cd'])
    await complete(1)
    expect([await results, await later]).toEqual([
      ['A', 'B'],
      ['C', 'D'],
    ])
  })

  test('rejects only the call for which sizeOf throws', async () => {
    const sizeOf = (input: string) => {
      if (input === 'bad') throw new TypeError('no size')
      return 1
    }
    const send = async (inputs: readonly string[]) => inputs
    const call = inBatches({ send, lockTimeout: 1_000, maxSize: 3, sizeOf })
    const together = await Promise.allSettled(['a', 'bad', 'b'].map((input) => call(input)))
    expect(together.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(await call('c')).toBe('c')
  })

  test('sends at most `maxSize` inputs in one statement', async () => {
    const { call, complete, inputs } = heldEngine()
    for (const input of 'abcdefgh') void call(input)
    await settle()
    for (const index of [0, 1, 2]) await complete(index)
    expect(inputs()).toEqual(['abc', 'def', 'gh'])
  })

  test('drops a call that was aborted while it waited for a statement', async () => {
    const { call, complete, inputs } = heldEngine()
    const first = call('a')
    await settle()
    const controller = new AbortController()
    const dropped = call('b', { signal: controller.signal }).catch((error) => error)
    const kept = call('c')
    controller.abort('the client left')
    await complete(0)
    await complete(1)
    expect([inputs(), await first, await dropped, await kept]).toEqual([['a', 'c'], 'A', 'the client left', 'C'])
  })

  test('reads no signal of the calls that the first statement contains', async () => {
    const { call, complete } = heldEngine()
    const signal = vi.fn(() => undefined)
    const context = Object.defineProperty({}, 'signal', { get: signal })
    const results = Promise.all(['a', 'b', 'c'].map((input) => call(input, context)))
    await settle()
    await complete(0)
    expect(await results).toEqual(['A', 'B', 'C'])
    expect(signal).not.toHaveBeenCalled()
  })

  test('rejects the calls of a statement that fails, but not those that wait', async () => {
    const { sent, call, complete } = heldEngine()
    const results = Promise.all(['b', 'c'].map((input) => call(input).catch((error) => error)))
    await settle()
    const waiting = call('d')
    sent[0]?.fail('failed')
    await settle()
    await complete(1)
    expect([await results, await waiting]).toEqual([['failed', 'failed'], 'D'])
  })

  test('repeats each call alone after a rejected value', async () => {
    const { sent, call, complete, inputs } = heldEngine()
    const controller = new AbortController()
    const results = Promise.allSettled([call('a'), call('b', { signal: controller.signal }), call('c')])
    await settle()
    controller.abort('the client left')
    sent[0]?.fail(REJECTED)
    await settle()
    await complete(1)
    sent[2]?.fail(REJECTED)
    await settle()
    expect([inputs(), await results]).toEqual([
      ['abc', 'a', 'c'],
      [
        { status: 'fulfilled', value: 'A' },
        { status: 'rejected', reason: 'the client left' },
        { status: 'rejected', reason: REJECTED },
      ],
    ])
  })

  const statements = fc.record({
    isBad: fc.boolean(),
    leaves: fc.boolean(),
    size: fc.integer({ min: 1, max: 6 }),
  })

  test('runs every call once and in order', async () => {
    const lists = fc.array(statements, { maxLength: 30 })
    const property = fc.asyncProperty(fc.scheduler(), lists, async (s, calls) => {
      const [arrived, sent, done] = [[], [], []] as [number[], number[], number[]]
      let running = 0
      const options: BatchOptions<number, string> = {
        async send(ids) {
          running++
          expect(running).toBe(1)
          const size = ids.reduce((sum, id) => sum + (calls[id]?.size ?? 0), 0)
          if (ids.length > 1) expect(size).toBeLessThanOrEqual(10)
          sent.push(...ids.filter((id) => !sent.includes(id)))
          await s.schedule(Promise.resolve(), `statement of ${ids}`)
          running--
          if (ids.some((id) => calls[id]?.isBad)) throw REJECTED
          done.push(...ids)
          return ids.map((id) => `result ${id}`)
        },
        lockTimeout: 60_000,
        maxSize: 10,
        sizeOf: (id) => calls[id]?.size ?? 0,
      }
      const call = inBatches(options)
      const results = calls.map(async ({ leaves }, id) => {
        const controller = new AbortController()
        await s.schedule(Promise.resolve(), `arrival of ${id}`)
        arrived.push(id)
        if (leaves) void s.schedule(Promise.resolve(), `abort of ${id}`).then(() => controller.abort('left'))
        return call(id, { signal: controller.signal }).catch((error) => String(error))
      })
      const outcomes = await s.waitFor(Promise.all(results))
      expect(sent).toEqual(arrived.filter((id) => sent.includes(id)))
      for (const [id, outcome] of outcomes.entries()) {
        const { isBad, leaves } = calls[id] as (typeof calls)[0]
        const success = isBad ? String(REJECTED) : `result ${id}`
        expect(leaves ? [success, 'left'] : [success]).toContain(outcome)
        expect(done.filter((one) => one === id)).toHaveLength(outcome === `result ${id}` ? 1 : 0)
      }
    })
    await fc.assert(property)
  })
})

describe('a statement that does not return', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  test('a statement without a response fails with 503 at its time limit', async () => {
    const { sent, call, inputs } = heldEngine()
    const lost = call('a')
    lost.catch(() => {})
    await settle()
    const next = call('b')
    await vi.advanceTimersByTimeAsync(2_999)
    expect(inputs()).toEqual(['a'])
    await vi.advanceTimersByTimeAsync(1)
    await expect(lost).rejects.toMatchObject({ code: 'service_unavailable' })
    await settle()
    sent[1]?.complete()
    expect([inputs(), await next]).toEqual([['a', 'b'], 'B'])
    await settle()
    expect(vi.getTimerCount()).toBe(0)
  })
})
