import type { PetStoreError } from '../errors.ts'
import type { RateLimit } from '../model.ts'
import { abortReason, untilAborted } from '../support/time.ts'
import type { resolveClientOptions } from './options.ts'
import { createQueue } from './queue.ts'
import { gaveUp, isTransient } from './response-error.ts'
import { readRateLimit, serverTime, UNKNOWN, usedUp } from './response-headers.ts'
import type { Stopwatch } from './time.ts'

/**
 * How many requests may be in flight. Seven clients with one `free` key get at most 56 refusals at
 * once: too few for a ban.
 */
const MAX_IN_FLIGHT = 8
/**
 * How long a request without a response delays the next request while the limit is unknown, in
 * milliseconds.
 */
const PATIENCE = 2_000

/** A call of the client. All times are those of the stopwatch. */
export interface Call {
  readonly signal?: AbortSignal | undefined
  /** When the call was made. */
  readonly madeAt: number
  /**
   * The start of the first attempt that failed with an error other than 429; infinite without one.
   */
  failedAt: number
}

/** The result of a request: the headers of its response, and an error if it failed. */
interface Outcome {
  readonly headers: Headers
  readonly error?: PetStoreError | undefined
}

/** A call that waits until its request may be sent. */
interface Waiter {
  readonly call: Call
  /** Lets the call send its request. */
  readonly start: (requestNumber: number) => void
  readonly reject: (error: unknown) => void
}

/** Why and until when all calls wait, by the stopwatch. */
interface Pause {
  readonly error: PetStoreError
  /**
   * The earliest time of the next request. A call whose deadline is before this time rejects at
   * once. Without a time from the server, this is `opensAt`.
   */
  readonly retryAt: number
  /**
   * When the next request is sent: a random time after `retryAt`, but at most `maxElapsed` after
   * the beginning of the pause, and no later than the deadline of a waiting call.
   */
  opensAt: number
}

/**
 * The counts and the rate limit by which the gate decides. Requests are numbered in the order in
 * which they are sent, from 1.
 */
interface State {
  /** How many requests have been sent. */
  sent: number
  /** How many of these have a response or have failed. */
  settled: number
  /** The number of the newest request whose outcome is known. */
  newest: number
  /** The rate limit in the newest response. */
  known: RateLimit
  /** How many requests may be sent in all before the next one waits for those in flight. */
  allowed: number
  /** How many successive failures have made the calls wait. */
  failures: number
  /**
   * How many requests had been sent at the last counted failure. If one of these fails too, it
   * probably has the same reason.
   */
  sentBeforeFailure: number
  /** When the server last served the client, by the stopwatch. */
  servedAt: number
  pause: Pause | undefined
}

/**
 * Creates the gate, which makes the requests of one client wait. Its rules:
 * 1. One response decides how long all calls wait. Within one window, this is the response with the
 *    fewest remaining requests; otherwise, the response to the request that was sent last. After a
 *    failure, or if no requests remain, all calls wait until the same time, and then a single
 *    request goes first.
 * 2. If a response says "n remain", the server may not have counted the requests that were in
 *    flight at the same time. The gate subtracts them from n, so a client gets no 429 if nobody
 *    else uses its key. At most eight requests are in flight.
 * 3. A call rejects if it would still wait `maxElapsed` after it was made. When any call succeeds,
 *    this time starts again for each call that has had no error other than 429.
 * 4. Each wait has a random part, which grows with each failure. Otherwise, all clients of a server
 *    would come back at once. After the time in `Retry-After`, this part never makes a call reject.
 */
export function createGate(
  { clock, random, onRetry, retry }: ReturnType<typeof resolveClientOptions>,
  stopwatch: Stopwatch,
) {
  const { baseDelay, maxDelay, maxElapsed } = retry
  const neverWaits = maxElapsed === 0
  const queue = createQueue<Waiter>()
  /**
   * Requests without a response, sent less than `PATIENCE` ago. While the limit is unknown, the
   * next request waits for these.
   */
  const fresh = new Set<number>()
  const state: State = {
    sent: 0,
    settled: 0,
    newest: 0,
    known: UNKNOWN,
    allowed: neverWaits ? Number.POSITIVE_INFINITY : 0,
    failures: 0,
    sentBeforeFailure: 0,
    servedAt: Number.NEGATIVE_INFINITY,
    pause: undefined,
  }
  /** Ends the current sleep; `undefined` while no call waits for the end of a pause. */
  let timer: AbortController | undefined

  const timeUntilOpen = () => (state.pause ? Math.ceil(state.pause.opensAt - stopwatch.elapsed()) : 0)

  function maySend(): boolean {
    const isLimitUnknown = state.sent >= state.allowed
    return state.sent - state.settled < MAX_IN_FLIGHT && !(isLimitUnknown && fresh.size > 0)
  }

  /**
   * Starts as many waiting calls as may be sent now. During a pause, makes sure that a timer runs.
   */
  function startWaiting(): void {
    if (timeUntilOpen() > 0) {
      if (queue.size > 0 && timer === undefined) void waitUntilOpen()
      return
    }
    for (let next = queue.first(); next !== undefined && maySend(); next = queue.first()) {
      const [number, waiter] = next
      queue.remove(number)
      state.sent++
      fresh.add(state.sent)
      waiter.start(state.sent)
    }
  }

  async function waitUntilOpen(): Promise<void> {
    const first = queue.first()
    timer = new AbortController()
    reportPause().catch((error) => {
      if (first) reject(...first, error)
    })
    // Wait for one microtask: if `onRetry` throws, `reject` must remove the call before
    // `startWaiting` could start it.
    await undefined
    while (timeUntilOpen() > 0 && queue.size > 0) {
      timer = new AbortController()
      // If the sleep is aborted, the pause has changed, or no call waits any more.
      await stopwatch.wait(timeUntilOpen(), timer.signal).catch(() => {})
    }
    timer = undefined
    startWaiting()
  }

  async function reportPause(): Promise<void> {
    if (state.pause) await onRetry?.({ attempt: state.failures, delay: timeUntilOpen(), error: state.pause.error })
  }

  /** Rejects a call if it is still waiting. */
  function reject(number: number, waiter: Waiter, error: unknown): void {
    if (queue.remove(number)) waiter.reject(error)
    if (queue.size === 0) timer?.abort()
  }

  /**
   * Rejects a call whose deadline is before the end of the pause. If only the random part of the
   * pause ends too late, the pause ends at the deadline, because the server permits a request then.
   */
  function meetDeadline(number: number, waiter: Waiter): void {
    const { call } = waiter
    const { pause } = state
    if (pause === undefined || timeUntilOpen() <= 0) return
    const deadline = Math.min(call.failedAt, Math.max(call.madeAt, state.servedAt)) + maxElapsed
    const now = stopwatch.elapsed()
    if (deadline < Math.max(pause.retryAt, now)) {
      reject(number, waiter, gaveUp(pause.error, pause.retryAt - now, clock))
    } else if (deadline < pause.opensAt) {
      pause.opensAt = deadline
      timer?.abort()
    }
  }

  /** Records the outcome of a request. A newer outcome decides how long the calls wait. */
  function record(request: number, settledBefore: number, { headers, error }: Outcome): void {
    const failure = error && isTransient(error) ? error : undefined
    if (failure === undefined) state.servedAt = stopwatch.elapsed()
    const limit = (failure === undefined && readRateLimit(headers)) || UNKNOWN
    const isSameWindow = state.known.limit === limit.limit && state.known.resetsAt === limit.resetsAt
    const isNews = isSameWindow ? limit.remaining <= state.known.remaining : request >= state.newest
    if (neverWaits || !isNews) return
    state.known = limit
    state.newest = Math.max(state.newest, request)
    if (failure) recordFailure(request)
    else recordSuccess(limit, settledBefore)
    state.pause = newPause(failure ?? usedUp(limit, serverTime(headers, clock.now())))
    // Most outcomes begin no pause. To look at all waiting calls after each of them would take
    // quadratic time.
    if (timeUntilOpen() > 0) for (const entry of queue.entries()) meetDeadline(...entry)
    timer?.abort()
  }

  /** Ends the failures: the server has responded, perhaps with an error such as 404. */
  function recordSuccess({ remaining }: RateLimit, settledBefore: number): void {
    state.failures = 0
    state.sentBeforeFailure = 0
    state.allowed = settledBefore + 1 + remaining
  }

  function recordFailure(request: number): void {
    if (request <= state.sentBeforeFailure) return
    state.failures++
    state.sentBeforeFailure = state.sent
    state.allowed = 0
  }

  function newPause(error: PetStoreError | undefined): Pause | undefined {
    if (error === undefined) return undefined
    // At most 30 doublings: more could give Infinity, and `0 * Infinity` is no number.
    const doublings = Math.min(Math.max(0, state.failures - 1), 30)
    const longest = Math.min(maxDelay, baseDelay * 2 ** doublings)
    const asked = 1000 * (error.retryAfter ?? 0)
    const spread = Math.ceil(random(asked) * longest)
    const now = stopwatch.elapsed()
    const opensAt = now + Math.min(asked + spread, maxElapsed)
    return { error, retryAt: asked > 0 ? now + asked : opensAt, opensAt }
  }

  return async <T extends Outcome>(call: Call, task: () => Promise<T>): Promise<T> => {
    const request = await untilAborted<number>(call.signal, (start, fail) => {
      const waiter = { call, start, reject: fail }
      const number = queue.add(waiter)
      meetDeadline(number, waiter)
      startWaiting()
      return () => reject(number, waiter, call.signal && abortReason(call.signal))
    })
    const settledBefore = state.settled
    const patience = setTimeout(() => {
      if (fresh.delete(request)) startWaiting()
    }, PATIENCE)
    try {
      const outcome = await task()
      record(request, settledBefore, outcome)
      return outcome
    } finally {
      clearTimeout(patience)
      fresh.delete(request)
      state.settled++
      startWaiting()
    }
  }
}
