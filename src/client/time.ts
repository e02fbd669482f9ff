import type { Clock } from '../ports.ts'
import { abortReason, systemClock, untilAborted } from '../support/time.ts'
import type { ClientSeams } from './options.ts'

/**
 * Measures how long the calls of a client take. It never steps back, whatever happens to the clock
 * of the machine.
 */
export interface Stopwatch {
  /** Returns the elapsed milliseconds since an unknown start. */
  elapsed(): number
  /** Waits. Rejects with the reason of the signal as soon as the signal aborts. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>
}

export function createStopwatch(clock: Clock, sleep: NonNullable<ClientSeams['sleep']>): Stopwatch {
  /** The milliseconds that timers have waited and the monotonic clock has not counted. */
  let skipped = 0
  const elapsed = () => (clock.monotonic?.() ?? systemClock.monotonic()) + skipped
  return {
    elapsed,
    async wait(milliseconds, signal) {
      const end = elapsed() + milliseconds
      await sleep(milliseconds, signal)
      // Fake timers of node:test replace `setTimeout`, but not `performance`. Real timers may be
      // early by a millisecond.
      skipped += Math.max(0, end - elapsed())
    },
  }
}

/**
 * Runs a task. Rejects after the timeout or when the signal aborts, even if the task ignores the
 * signal that it gets.
 */
export function withDeadline(task: (signal: AbortSignal) => Promise<void>, timeout: number, signal?: AbortSignal) {
  const controller = new AbortController()
  return untilAborted<void>(signal, (resolve, reject) => {
    const timer = setTimeout(() => {
      const error = new DOMException(`the timeout of ${timeout} milliseconds has passed`, 'TimeoutError')
      // Reject also if the task never settles: the listener on `signal` is removed when this
      // promise settles.
      reject(error)
      controller.abort(error)
    }, timeout)
    const stopTimer = () => clearTimeout(timer)
    task(controller.signal).then(resolve, reject).finally(stopTimer)
    return () => {
      stopTimer()
      controller.abort(signal && abortReason(signal))
    }
  })
}

/** A signal of one call. It aborts when the signal of the caller aborts. */
export interface CallSignal {
  readonly signal: AbortSignal
  /** Removes the call from the signal of the caller. */
  release(): void
}

/** The calls that follow one signal of a caller, and the only listener on that signal. */
interface Followed {
  readonly calls: Set<AbortController>
  readonly abortAll: () => void
}

/**
 * Returns a function that creates a signal for one call. However many calls have the same signal,
 * it gets one listener: Node warns about a leak from the eleventh, and adding a listener takes a
 * time that grows with the number of listeners. `AbortSignal.any` is not used, because jsdom 20,
 * the one of Jest 29, does not have it.
 */
export function createSignalFollower(): (callers: AbortSignal) => CallSignal {
  const followed = new WeakMap<AbortSignal, Followed>()

  function startFollowing(callers: AbortSignal): Followed {
    const calls = new Set<AbortController>()
    const abortAll = () => {
      for (const call of calls) call.abort(abortReason(callers))
    }
    callers.addEventListener('abort', abortAll)
    followed.set(callers, { calls, abortAll })
    return { calls, abortAll }
  }

  return (callers) => {
    const { calls, abortAll } = followed.get(callers) ?? startFollowing(callers)
    const controller = new AbortController()
    calls.add(controller)
    if (callers.aborted) controller.abort(abortReason(callers))
    const release = () => {
      calls.delete(controller)
      if (calls.size > 0) return
      callers.removeEventListener('abort', abortAll)
      followed.delete(callers)
    }
    return { signal: controller.signal, release }
  }
}

/**
 * Returns whether `fetch` takes the signals of the global `AbortController`. Under jsdom, it may be
 * of another realm: with vitest 2 and 3 on Node 24, `fetch` rejects its signals. Then a call still
 * rejects at its timeout, but its request goes on.
 */
export function fetchTakesSignals(): boolean {
  if (typeof Request === 'undefined') return true
  try {
    return new Request('http://localhost', { signal: new AbortController().signal }).signal !== undefined
  } catch {
    return false
  }
}
