import type { CallContext } from '../../../src/index.ts'
import { abortReason, withTimeout } from '../../../src/support/time.ts'
import { unavailable } from '../shared/errors.ts'
import { atEndOfEventLoopTurn } from '../shared/event-loop-turn.ts'
import { meaningOf } from './errors.ts'

export interface BatchOptions<Input, Output> {
  /** Runs calls as one statement, all or none. Returns their results in the order of the calls. */
  send(inputs: readonly Input[]): Promise<readonly Output[]>
  /** How long a statement may wait for a lock, in milliseconds. */
  readonly lockTimeout: number
  /**
   * The largest sum of the sizes of the calls in a statement. A single call may be larger.
   */
  readonly maxSize: number
  sizeOf(input: Input): number
}

interface Call<Input, Output> {
  readonly input: Input
  readonly size: number
  readonly context: CallContext | undefined
  readonly resolve: (result: Output) => void
  readonly reject: (error: unknown) => void
}

/**
 * How long a statement may take besides its wait for a row, in milliseconds. After that, its
 * connection is treated as lost: otherwise, all later calls would wait for ever.
 */
const WORKING_TIME = 2_000

/**
 * Returns a function whose calls share statements: those of one turn of the event loop, and those
 * that arrive while a statement runs share the next one. So any number of calls needs only one
 * connection, and a call waits for about two statements: a running one and its own.
 */
export function inBatches<Input, Output>(
  options: BatchOptions<Input, Output>,
): (input: Input, context?: CallContext) => Promise<Output> {
  const { send, lockTimeout, maxSize, sizeOf } = options
  const waiting: Call<Input, Output>[] = []
  let isRunning = false

  async function sendWaiting(): Promise<void> {
    isRunning = true
    await new Promise<void>(atEndOfEventLoopTurn)
    await carryOut(takeBatch())
    while (waiting.length > 0) await carryOut(takeBatch().filter(isWanted))
    isRunning = false
  }

  function takeBatch(): Call<Input, Output>[] {
    let size = 0
    const end = waiting.findIndex((call, index) => {
      size += call.size
      return index > 0 && size > maxSize
    })
    return waiting.splice(0, end === -1 ? waiting.length : end)
  }

  async function carryOut(calls: readonly Call<Input, Output>[]): Promise<void> {
    if (calls.length === 0) return
    const timeout = lockTimeout + WORKING_TIME
    const onTimeout = () => unavailable(new Error(`a statement did not return within ${timeout} ms`))
    try {
      const results = await withTimeout(send(calls.map(({ input }) => input)), timeout, onTimeout)
      for (const [index, { resolve }] of calls.entries()) resolve(results[index] as Output)
    } catch (error) {
      // Repeat each call alone, so that one wrong value does not reject the others.
      if (meaningOf(error) === 'rejected' && calls.length > 1)
        for (const call of calls) await carryOut([call].filter(isWanted))
      else for (const { reject } of calls) reject(error)
    }
  }

  return (input, context) =>
    new Promise((resolve, reject) => {
      // `sizeOf` throws for a value of a wrong type. Inside the promise, the error rejects only
      // this call.
      waiting.push({ input, size: sizeOf(input), context, resolve, reject })
      if (!isRunning) void sendWaiting()
    })
}

/**
 * Returns false, and rejects the call, if its client has left or has already received a 503. Only
 * calls that have waited for another statement are checked, because reading `signal` creates an
 * `AbortController`.
 */
function isWanted({ context, reject }: Pick<Call<unknown, unknown>, 'context' | 'reject'>): boolean {
  const signal = context?.signal
  if (!signal?.aborted) return true
  reject(abortReason(signal))
  return false
}
