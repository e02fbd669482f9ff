import type { CallContext } from '../../../src/index.ts'
import { systemClock, withTimeout } from '../../../src/support/time.ts'
import { unavailable } from '../shared/errors.ts'
import { atEndOfEventLoopTurn } from '../shared/event-loop-turn.ts'
import { meaningOf, sqlStateOf } from './errors.ts'

/**
 * The calls that are rejected after a failed statement. `call`: only calls whose values the
 * database rejected; the others are repeated. `statement`: all calls of the statement. `waiting`:
 * also the calls that wait for the next statement, because their clients have already waited for
 * the failed one.
 */
export type FailedCalls = 'call' | 'statement' | 'waiting'

export interface BatchOptions<Input, Output> {
  /** Runs calls as one statement, all or none. Returns their results in the order of the calls. */
  send(inputs: readonly Input[]): Promise<readonly Output[]>
  failedCallsOf(error: unknown): FailedCalls
  /**
   * How long a statement may take, in milliseconds. After that, its connection is treated as lost.
   */
  readonly timeout: number
  /**
   * The largest sum of the sizes of the calls in a statement. A single call may be larger.
   * @default no limit
   */
  readonly maxSize?: number
  sizeOf?(input: Input): number
}

interface Call<Input, Output> {
  readonly input: Input
  readonly size: number
  readonly context: CallContext | undefined
  readonly resolve: (result: Output) => void
  readonly reject: (error: unknown) => void
}

/**
 * Enough to find one rejected value among 4,000 calls. If more values are wrong, some calls get 503
 * and are not tried.
 */
const MOST_REPEATS = 24

/**
 * A statement with several calls is slow if it takes this long, in milliseconds. A pause follows:
 * until as many calls wait, for a part of the time of the statement, and at most for
 * `LONGEST_PAUSE`. The clients of the statement have just got their responses, and send their next
 * requests. Without the pause, the first of these requests would get a statement of its own, and
 * the others would wait for it. If processes wait for each other's commits, statements would then
 * contain half as many calls.
 */
const SLOW_STATEMENT = 10
const PAUSE = 1 / 4
const LONGEST_PAUSE = 20

/**
 * Returns a function whose calls share statements: the calls of one turn of the event loop, and the
 * calls that arrive while a statement runs. So any number of calls needs only one connection, and a
 * call waits for about two statements: a running one and its own.
 */
export function inBatches<Input, Output>(
  options: BatchOptions<Input, Output>,
): (input: Input, context?: CallContext) => Promise<Output> {
  const { send, failedCallsOf, timeout, maxSize = Infinity, sizeOf = () => 1 } = options
  const waiting: Call<Input, Output>[] = []
  let isRunning = false
  let onArrival: (() => void) | undefined

  async function sendWaiting(): Promise<void> {
    isRunning = true
    await new Promise<void>(atEndOfEventLoopTurn)
    await sendBatch(takeBatch())
    while (waiting.length > 0) await sendBatch(rejectUnwanted(takeBatch()))
    isRunning = false
  }

  async function sendBatch(calls: readonly Call<Input, Output>[]): Promise<void> {
    // Both waits use the same timers. If a test has replaced them, no time passes and no pause follows.
    const { setTimeout, clearTimeout } = globalThis
    let isSlow = false
    const timer = setTimeout(() => {
      isSlow = true
    }, SLOW_STATEMENT)
    const startedAt = systemClock.monotonic()
    await carryOut(calls, { remaining: MOST_REPEATS })
    clearTimeout(timer)
    if (!isSlow || calls.length === 1 || waiting.length >= calls.length) return
    const pause = Math.min((systemClock.monotonic() - startedAt) * PAUSE, LONGEST_PAUSE)
    await new Promise<void>((resolve) => {
      const end = setTimeout(resolve, pause)
      onArrival = () => {
        if (waiting.length < calls.length) return
        clearTimeout(end)
        resolve()
      }
    })
    onArrival = undefined
  }

  function takeBatch(): Call<Input, Output>[] {
    let size = 0
    const end = waiting.findIndex((call, index) => {
      size += call.size
      return index > 0 && size > maxSize
    })
    return waiting.splice(0, end === -1 ? waiting.length : end)
  }

  async function carryOut(calls: readonly Call<Input, Output>[], repeats: { remaining: number }): Promise<void> {
    if (calls.length === 0) return
    const onTimeout = () => unavailable(new Error(`a statement did not return within ${timeout} ms`))
    try {
      const results = await withTimeout(send(calls.map(({ input }) => input)), timeout, onTimeout)
      for (const [index, { resolve }] of calls.entries()) resolve(results[index] as Output)
    } catch (error) {
      const kind = failedCallsOf(error)
      if (kind === 'call' && calls.length > 1) return carryOutHalves(calls, error, repeats)
      const failed = kind === 'waiting' ? [...calls, ...waiting.splice(0)] : calls
      for (const { reject } of failed) reject(error)
    }
  }

  /**
   * Finds the call with the rejected value: sends each half of the calls again. `repeats` limits
   * the statements, because with many wrong values, each call would need a statement of its own.
   */
  async function carryOutHalves(
    calls: readonly Call<Input, Output>[],
    error: unknown,
    repeats: { remaining: number },
  ): Promise<void> {
    const half = calls.length >> 1
    for (const part of [calls.slice(0, half), calls.slice(half)]) {
      repeats.remaining -= 1
      if (repeats.remaining >= 0) await carryOut(rejectUnwanted(part), repeats)
      else for (const { reject } of part) reject(unavailable(error))
    }
  }

  return (input, context) =>
    new Promise((resolve, reject) => {
      // `sizeOf` throws for a value of a wrong type. Inside the promise, the error rejects only
      // this call.
      waiting.push({ input, size: sizeOf(input), context, resolve, reject })
      if (!isRunning) void sendWaiting()
      onArrival?.()
    })
}

/**
 * Rejects the calls whose clients have left or have already received a 503, and returns the others.
 * Only calls that have waited for another statement are checked, because reading `signal` creates
 * an `AbortController`.
 */
function rejectUnwanted<Input, Output>(calls: readonly Call<Input, Output>[]): Call<Input, Output>[] {
  const wanted: Call<Input, Output>[] = []
  for (const call of calls) {
    const signal = call.context?.signal
    if (signal?.aborted) call.reject(signal.reason)
    else wanted.push(call)
  }
  return wanted
}

/**
 * How long a statement may take besides its wait for a row, in milliseconds. PostgreSQL itself ends
 * a wait for a row after `lockTimeout`, but it waits for a locked table before it reads that limit.
 */
const WORKING_TIME = 2_000

export function statementRules(lockTimeout: number): Pick<BatchOptions<never, never>, 'timeout' | 'failedCallsOf'> {
  return { timeout: lockTimeout + WORKING_TIME, failedCallsOf }
}

/**
 * SQLSTATE codes and messages that mean a statement waited too long for a lock, a connection or a
 * result.
 */
const TIMED_OUT = /^(?:55P03|57014)$|time ?out|did not return within/i

function failedCallsOf(error: unknown): FailedCalls {
  if (meaningOf(error) === 'rejected') return 'call'
  const { cause } = Object(error) as { cause?: { message?: unknown } }
  return TIMED_OUT.test(sqlStateOf(cause) ?? String(cause?.message)) ? 'waiting' : 'statement'
}
