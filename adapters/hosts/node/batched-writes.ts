import { atEndOfTurn } from '../../shared/end-of-turn.ts'

/** If one turn of the event loop has at least this many responses, the responses of the next turn are batched. */
const BUSY_TURN = 2
/** The largest batch, so that the first response does not wait too long. */
const MAX_BATCH = 32
/** While responses are not batched, one of this many responses starts to observe a turn. */
const SAMPLE = 32
/** A turn that is longer than this, in milliseconds, has other work to do: its responses are written at once. */
const LONG_TURN = 5
/** How long nothing is batched after a long turn, in milliseconds. */
const PAUSE = 100

/** Returns a promise to await before a response is written, or `undefined` to write it at once. */
export type BatchWrite = () => Promise<void> | undefined

/**
 * Returns a scheduler that batches responses within one turn of the event loop. A client that sleeps must be woken for a
 * response, which costs as much as a short request does; responses that are written together wake it once.
 *
 * @param now - the time, in milliseconds
 */
export function batchedWrites(now: () => number = () => performance.now()): BatchWrite {
  let isBusy = false
  let unobserved = 0
  let pausedUntil = 0
  /** The turn under observation: when it began, and its responses. */
  let turn: { readonly startedAt: number; responses: number } | undefined
  let batch: Promise<void> | undefined
  let release = () => {}

  function flush(): void {
    batch = undefined
    release()
  }

  function endTurn(startedAt: number, responses: number): void {
    const time = now()
    isBusy = responses >= BUSY_TURN
    if (time - startedAt > LONG_TURN) pausedUntil = time + PAUSE
    turn = undefined
    flush()
  }

  return () => {
    if (!turn && !isBusy && ++unobserved % SAMPLE !== 0) return undefined
    const time = now()
    if (time < pausedUntil) return undefined
    if (!turn) {
      const observed = { startedAt: time, responses: 0 }
      turn = observed
      atEndOfTurn(() => endTurn(observed.startedAt, observed.responses))
    }
    turn.responses++
    if (!isBusy || time - turn.startedAt > LONG_TURN) return undefined
    batch ??= new Promise((resolve) => {
      release = resolve
    })
    const current = batch
    if (turn.responses % MAX_BATCH === 0) flush()
    return current
  }
}
