import type { ApiKey } from '../model.ts'
import type { Clock, KeyStore, ManagedKeyStore } from '../ports.ts'
import { DAY } from '../support/time.ts'

/** How many keys one call of the key store records. */
const AT_ONCE = 1_000
/** After a failure, the key store gets no call for this many milliseconds: a database may be read-only. */
const PAUSE = 60_000

interface RecorderOptions {
  readonly clock: Clock
  /** After this time, in milliseconds, a call of the key store has failed. */
  readonly timeout: number
  /** Called with an error, but not again until a call succeeds. */
  readonly onFailure: (error: unknown) => void
}

/** A call of the key store in progress. */
interface Call {
  readonly ids: readonly string[]
  /** The number of the UTC day since 1970. */
  readonly day: number
  readonly startedAt: number
}

/**
 * Returns a function to call with the key of each request. Once for each key, day and process, it lets the key store record the
 * day. It returns at once: no request waits for the key store, which gets one call at a time.
 */
export function useRecorder(
  keyStore: KeyStore & Partial<Pick<ManagedKeyStore, 'recordUse'>>,
  { clock, timeout, onFailure }: RecorderOptions,
): (key: ApiKey) => void {
  /** The keys that were seen on this day. */
  const seen = new Set<string>()
  /** The keys to record, each with its day. */
  const waiting = new Map<string, number>()
  let today = -1
  let running: Call | undefined
  /** When the last call failed; `undefined` if it succeeded. */
  let failedAt: number | undefined

  async function record(): Promise<void> {
    while (waiting.size > 0) {
      const call = takeWaiting()
      running = call
      try {
        await keyStore.recordUse?.(call.ids, textOf(call.day))
        failedAt = undefined
      } catch (error) {
        if (failedAt === undefined) onFailure(error)
        failedAt = clock.now()
        retryLater(call)
      }
      if (running !== call) return
    }
    running = undefined
  }

  /** Takes keys of one day: those that waited at midnight are in a call of their own. */
  function takeWaiting(): Call {
    const [day = today] = waiting.values()
    const ofDay = Array.from(waiting.keys()).filter((id) => waiting.get(id) === day)
    const ids = ofDay.slice(0, AT_ONCE)
    for (const id of ids) waiting.delete(id)
    return { ids, day, startedAt: clock.now() }
  }

  /** A later request with one of these keys tries again. */
  function retryLater({ ids, day }: Call): void {
    if (day === today) for (const id of ids) seen.delete(id)
  }

  /** On Workers, a call may stay pending for ever, without its time limit, if its request has ended. */
  function giveUpLateCall(now: number): void {
    if (running === undefined || Math.abs(now - running.startedAt) <= timeout) return
    retryLater(running)
    running = undefined
  }

  return ({ id, lastUsedOn }) => {
    if (!keyStore.recordUse || !id) return
    const now = clock.now()
    const day = Math.floor(now / DAY)
    if (day !== today) {
      seen.clear()
      today = day
    }
    giveUpLateCall(now)
    const isPaused = failedAt !== undefined && Math.abs(now - failedAt) < PAUSE
    if (isPaused || seen.has(id)) return
    seen.add(id)
    // A store that Workers create for each request would otherwise write at each request.
    if (lastUsedOn === textOf(day)) return
    waiting.set(id, day)
    if (running === undefined) void record()
  }
}

function textOf(day: number): string {
  return new Date(day * DAY).toISOString().slice(0, 10)
}
