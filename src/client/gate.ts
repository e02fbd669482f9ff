import type { PetStoreError } from '../errors.ts'
import type { resolveClientOptions } from './options.ts'
import { readRateLimit, UNKNOWN, usedUp } from './rate-limit.ts'
import { gaveUp, isTransient } from './response-error.ts'
import { untilAborted } from './until-aborted.ts'

/** The most requests at once. Seven clients with one key then get fewer refusals in a minute than ban a key of the plan `free`. */
const MAX_IN_FLIGHT = 8
/** After so many milliseconds without a response, a request no longer holds the next one back. */
const PATIENCE = 2_000

type Outcome = { headers: Headers | undefined; error?: PetStoreError | undefined }
/** When a call was made, and when its first attempt began that failed with another error than 429. */
type Call = { readonly signal?: AbortSignal | undefined; readonly made: number; since: number }
type Waiter = Call & { start: (number: number) => void; reject: (error: unknown) => void }

/**
 * Creates the gate that all requests of one client pass.
 *
 * 1. The newest response decides for all calls: in one window the response with the fewest remaining requests, otherwise that to
 *    the request sent last. After a failure, or if no requests remain, all calls wait until the same time, and then one goes first.
 * 2. A response with "n remain" has counted each request that had been answered before its own request was sent. From then on,
 *    n + 1 requests may be sent in all, eight at once: a client whose key nobody else uses gets no refusal.
 * 3. A call gives up if its wait would end more than `maxElapsed` after it was made. This time begins again with each response that
 *    serves the client, until an attempt of the call itself fails. A 429 is no such failure.
 */
export function createGate({ clock, sleep, random, onRetry, retry }: ReturnType<typeof resolveClientOptions>) {
  const { baseDelay, maxDelay, maxElapsed } = retry
  const queue = new Set<Waiter>()
  /** The requests that hold the next one back while nothing says how many remain. */
  const fresh = new Set<number>()
  let [sent, settled, newest, failures, sentBeforeFailure, servedAt] = [0, 0, 0, 0, 0, 0]
  /** How many requests may be sent in all. */
  let allowed = maxElapsed === 0 ? Number.POSITIVE_INFINITY : 0
  let known = UNKNOWN
  /** The server asked to wait `until`; the gate opens after at most `maxElapsed`. */
  let pause: { readonly error: PetStoreError; readonly until: number; opensAt: number } | undefined
  let timer: AbortController | undefined
  const leftOfPause = () => Math.min(maxElapsed, (pause?.opensAt ?? 0) - clock.now())

  function startNext(): void {
    if (leftOfPause() > 0) return void (queue.size > 0 && timer === undefined && waitUntilOpen())
    for (const waiter of queue) {
      if (sent - settled >= MAX_IN_FLIGHT || (sent >= allowed && fresh.size > 0)) return
      queue.delete(waiter)
      fresh.add(++sent)
      waiter.start(sent)
    }
  }

  async function waitUntilOpen([first] = queue): Promise<void> {
    timer = new AbortController()
    try {
      if (pause) onRetry?.({ attempt: failures, delay: leftOfPause(), error: pause.error })
    } catch (error) {
      if (first && queue.delete(first)) first.reject(error)
    }
    for (let awaited = pause; awaited && leftOfPause() > 0 && queue.size > 0; awaited = pause) {
      timer = new AbortController()
      // An abort means that the wait has changed. After a wait, the gate opens even if the clock has stepped back.
      await sleep(leftOfPause(), timer.signal)
        .then(() => Object.assign(awaited, { opensAt: 0 }))
        .catch(() => {})
    }
    timer = undefined
    startNext()
  }

  function learn(number: number, before: number, { headers = new Headers(), error }: Outcome): void {
    const failure = error && isTransient(error) ? error : undefined
    const latest = (failure === undefined && readRateLimit(headers)) || UNKNOWN
    const isInWindow = known.limit === latest.limit && known.resetsAt === latest.resetsAt
    const isNewest = isInWindow ? latest.remaining <= known.remaining : number >= newest
    if (maxElapsed === 0 || !isNewest) return
    ;[known, newest] = [latest, Math.max(newest, number)]
    const now = clock.now()
    if (failure === undefined) {
      ;[failures, sentBeforeFailure, servedAt] = [0, 0, now]
      allowed = before + 1 + latest.remaining
    } else if (number > sentBeforeFailure) {
      // Requests that are under way now will fail for the same reason.
      ;[failures, sentBeforeFailure, allowed] = [failures + 1, sent, 0]
    }
    const reason = failure ?? usedUp(headers, now)
    const backOff = failures === 0 ? 0 : random() * Math.min(maxDelay, baseDelay * 2 ** Math.min(failures - 1, 30))
    const delay = Math.max(backOff, 1000 * (reason?.retryAfter ?? 0))
    pause = reason && { error: reason, until: now + delay, opensAt: now + Math.min(delay, maxElapsed) }
    for (const waiter of queue) add(waiter)
    timer?.abort()
  }

  /** Adds a call to the queue. Rejects it if it would wait too long. */
  function add(waiter: Waiter): void {
    const { made, since, reject } = waiter
    queue.add(waiter)
    const isLate = Math.min(since, Math.max(made, servedAt)) + maxElapsed < (pause?.until ?? 0) && leftOfPause() > 0
    if (pause && isLate && queue.delete(waiter)) reject(gaveUp(pause, clock.now()))
  }

  /** Runs a task that sends one request, as soon as the gate lets it. */
  return async <T extends Outcome>(call: Call, task: () => Promise<T>): Promise<T> => {
    const number = await untilAborted<number>(call.signal, (start, reject) => {
      const waiter = { ...call, start, reject }
      add(waiter)
      startNext()
      return () => queue.delete(waiter) && queue.size === 0 && timer?.abort()
    })
    const before = settled
    const patience = setTimeout(() => fresh.delete(number) && startNext(), PATIENCE)
    try {
      const outcome = await task()
      learn(number, before, outcome)
      return outcome
    } finally {
      clearTimeout(patience)
      fresh.delete(number)
      settled++
      startNext()
    }
  }
}
