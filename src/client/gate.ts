import { PetStoreError } from '../errors.ts'
import type { Clock } from '../ports.ts'
import { type RateLimit, readRateLimit } from './rate-limit.ts'

/** The most requests at once while no response has said how many remain, and attempts have failed. */
const MAX_BLIND = 16

/**
 * A client uses this part of the remaining requests at once, because other processes may use the same key: with five
 * processes that start together, fewer requests are refused than start a ban.
 */
const SHARE = 1 / 3

/** What the gate learns from an attempt. */
interface AttemptReport {
  /** The headers of the response; `undefined` if none arrived. */
  readonly headers: Headers | undefined
  readonly error: PetStoreError | undefined
  /** How long to wait after the error, in milliseconds. */
  readonly delay: number
}

interface GateOptions {
  readonly clock: Clock
  readonly sleep: (milliseconds: number, signal?: AbortSignal) => Promise<void>
  /** The longest wait, in milliseconds. */
  readonly maxDelay: number
  /** Called before a wait for the end of a window whose limit is used up. */
  readonly onUsedUp: (rateLimit: RateLimit, delay: number) => void
}

interface Waiter {
  readonly ticket: number
  readonly start: () => void
  readonly reject: (reason: unknown) => void
}

/**
 * Creates the gate that all requests of one client pass, so that parallel calls do not get their key banned.
 *
 * One request goes first, until a response says how many remain. Then at most a third of these are under way at once, because other
 * processes may use the same key. After a 429, or if none remain, every call waits until the limit resets.
 */
export function createGate({ clock, sleep, maxDelay, onUsedUp }: GateOptions) {
  /** The calls that wait, in the order of their tickets. */
  const queue: Waiter[] = []
  let inFlight = 0
  /** The most requests that may be under way at once. */
  let bound = 1
  let known: RateLimit | undefined
  let opensAt = Number.NEGATIVE_INFINITY
  /** The last 429 whose wait is longer than `maxDelay`, and when that wait ends. */
  let tooLong: { readonly error: PetStoreError; readonly endsAt: number } | undefined
  /** Ends the wait for `opensAt` when no call waits any more. */
  let waiting: AbortController | undefined

  function startNext(): void {
    if (waiting !== undefined || queue.length === 0) return
    if (opensAt > clock.now()) return void waitUntilOpen()
    while (inFlight < bound && queue.length > 0) {
      inFlight += 1
      queue.shift()?.start()
    }
  }

  async function waitUntilOpen(): Promise<void> {
    waiting = new AbortController()
    if (known?.remaining === 0) announce(known)
    try {
      // A response that arrives during the wait may extend it. After the clock steps back, no wait exceeds `maxDelay`.
      for (let until = Number.NEGATIVE_INFINITY; until < opensAt; ) {
        until = opensAt
        await sleep(delayUntil(until), waiting.signal)
      }
      opensAt = Number.NEGATIVE_INFINITY
    } catch {
      // No call waits any more.
    }
    waiting = undefined
    startNext()
  }

  function delayUntil(time: number): number {
    return Math.max(0, Math.min(maxDelay, time - clock.now()))
  }

  /** Calls `onUsedUp`. If it throws, the call that waits longest rejects with that error. */
  function announce(rateLimit: RateLimit): void {
    try {
      onUsedUp(rateLimit, delayUntil(opensAt))
    } catch (error) {
      queue.shift()?.reject(error)
      stopIdleWait()
    }
  }

  function stopIdleWait(): void {
    if (queue.length === 0) waiting?.abort()
  }

  function learn({ headers, error, delay }: AttemptReport): void {
    if (error?.status === 429) return void learnRefusal(error, delay)
    const rateLimit = headers && readRateLimit(headers)
    if (rateLimit === undefined) return void learnWithoutLimit(error === undefined)
    learnLimit(rateLimit)
    // The clock of the server decides when the window ends, so prefer it to the clock of this machine.
    const resetsIn = rateLimit.resetsAt - (Date.parse(headers?.get('Date') ?? '') || clock.now())
    if (known?.remaining === 0 && resetsIn <= maxDelay) close(resetsIn)
  }

  function learnRefusal(error: PetStoreError, delay: number): void {
    known = undefined
    bound = 1
    close(Math.min(delay, maxDelay))
    tooLong = delay > maxDelay ? { error, endsAt: clock.now() + delay } : undefined
    // The wait is too long for the calls that wait, too. Their requests would be refused, and refusals lead to a ban.
    if (tooLong !== undefined) for (const { reject } of queue.splice(0)) reject(error)
    stopIdleWait()
  }

  function learnLimit(latest: RateLimit): void {
    // Responses may overtake each other: an older one must not raise the number, and one of the window before says nothing.
    if (known?.limit === latest.limit) {
      if (latest.resetsAt < known.resetsAt) return
      if (latest.resetsAt === known.resetsAt && latest.remaining > known.remaining) return
    }
    known = latest
    bound = Math.max(1, Math.ceil(latest.remaining * SHARE))
  }

  /** Learns from a fault, or from a response without rate-limit headers, such as that of a proxy. Neither may lock the gate. */
  function learnWithoutLimit(isOk: boolean): void {
    if (isOk) {
      known = undefined
      bound *= 2
    } else if (known === undefined) {
      bound = Math.max(bound, Math.min(bound * 2, MAX_BLIND))
    } else {
      // The service may have counted the request.
      known = { ...known, remaining: Math.max(1, known.remaining - 1) }
      bound = Math.ceil(known.remaining * SHARE)
    }
  }

  function close(delay: number): void {
    opensAt = Math.max(opensAt, clock.now() + delay)
  }

  return {
    /**
     * Waits until a call may send its request. Rejects as soon as the signal aborts.
     *
     * @param ticket - the number of the call. A call that was refused goes before later calls.
     */
    async enter(ticket: number, signal: AbortSignal | undefined): Promise<void> {
      signal?.throwIfAborted()
      if (tooLong !== undefined && opensAt > clock.now()) throw repeated(tooLong.error, tooLong.endsAt - clock.now())
      let onAbort = () => {}
      try {
        await new Promise<void>((start, reject) => {
          const waiter = { ticket, start, reject }
          onAbort = () => {
            const position = queue.indexOf(waiter)
            if (position === -1) return
            queue.splice(position, 1)
            stopIdleWait()
            reject(signal?.reason)
          }
          signal?.addEventListener('abort', onAbort)
          queue.splice(queue.findLastIndex((other) => other.ticket < ticket) + 1, 0, waiter)
          startNext()
        })
      } finally {
        signal?.removeEventListener('abort', onAbort)
      }
    },

    /** Ends an attempt, and learns from it. An aborted attempt has no report. */
    leave(report?: AttemptReport): void {
      inFlight -= 1
      if (report !== undefined) learn(report)
      startNext()
    },
  }
}

/** Returns the error of a 429 for a later call that was not sent, with the seconds that are left. */
function repeated(cause: PetStoreError, milliseconds: number): PetStoreError {
  const { code, message, status } = cause
  return new PetStoreError(code, message, { status, retryAfter: Math.ceil(milliseconds / 1000), cause })
}
