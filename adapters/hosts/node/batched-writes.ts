import { atEndOfTurn } from '../../shared/end-of-turn.ts'

/** If one turn of the event loop has at least this many responses, the responses of the next turn are batched. */
const BUSY_TURN = 2
/** The largest number of responses in a batch, so that the first response does not wait too long. */
const MAX_BATCH = 32
/** While responses are not batched, one turn is measured for each group of this many responses. */
const SAMPLE = 32
/** When a turn of the event loop has spent longer than this on one batch, in milliseconds, its further responses are not batched. */
const LONG_TURN = 5
/**
 * How long responses are not batched after two long turns, in milliseconds. This is also the longest time between the two: a
 * garbage collection causes a single long turn, and a host that computes causes many.
 */
const PAUSE = 100

/** Returns a promise to await before a response is written, or `undefined` to write it immediately. */
export type BatchWrite = () => Promise<void> | undefined

/**
 * Returns a function that batches the responses of one turn of the event loop. A write may wake a client process that sleeps,
 * which costs as much as a short request. Responses that are written together wake the client once.
 *
 * @param now - returns the time, in milliseconds
 */
export function batchedWrites(now: () => number = () => performance.now()): BatchWrite {
  let isBusy = false
  let unobserved = 0
  let lastLongTurn = -Infinity
  let pausedUntil = -Infinity
  /** The turn whose responses are counted: when its batch has started, and the number of its responses. */
  let turn: { batchStartedAt: number; responses: number } | undefined
  let batch: Promise<void> | undefined
  let release = () => {}

  function flush(): void {
    batch = undefined
    release()
  }

  function endTurn({ batchStartedAt, responses }: { batchStartedAt: number; responses: number }): void {
    const time = now()
    isBusy = responses >= BUSY_TURN
    if (time - batchStartedAt > LONG_TURN) {
      if (time - lastLongTurn < PAUSE) pausedUntil = time + PAUSE
      lastLongTurn = time
    }
    turn = undefined
    flush()
  }

  return () => {
    if (!turn && !isBusy && ++unobserved % SAMPLE !== 0) return undefined
    const time = now()
    if (time < pausedUntil) return undefined
    if (!turn) {
      const observed = { batchStartedAt: time, responses: 0 }
      turn = observed
      atEndOfTurn(() => endTurn(observed))
    }
    turn.responses++
    if (!isBusy || time - turn.batchStartedAt > LONG_TURN) return undefined
    batch ??= new Promise((resolve) => {
      release = resolve
    })
    const current = batch
    if (turn.responses % MAX_BATCH === 0) {
      flush()
      turn.batchStartedAt = time
    }
    return current
  }
}
