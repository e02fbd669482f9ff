import { abortReason } from '../support/time.ts'

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
