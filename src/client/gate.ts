import type { PetStoreError } from '../errors.ts'
import { untilAborted } from '../support/time.ts'
import type { resolveClientOptions } from './options.ts'
import { readRateLimit, serverTime, UNKNOWN, usedUp } from './rate-limit-headers.ts'
import { gaveUp, isTransient } from './response-error.ts'

/** How many requests may be in flight. Seven clients with one `free` key get at most 56 refusals at once: too few for a ban. */
const MAX_IN_FLIGHT = 8
/** How long a request without a response delays the next request while the limit is unknown, in milliseconds. */
const PATIENCE = 2_000
type Outcome = { readonly headers: Headers; readonly error?: PetStoreError | undefined }
type Call = { readonly signal?: AbortSignal | undefined; readonly made: number; since: number }
type Waiter = Call & { start: (number: number) => void; reject: (error: unknown) => void }

/**
 * Creates the gate, which makes the requests of one client wait. Its rules:
 * 1. One response decides how long all calls wait. Within one window, this is the response with the fewest remaining requests;
 *    otherwise, the response to the request that was sent last. After a failure, or if no requests remain, all calls wait until the
 *    same time, and then a single request goes first.
 * 2. If a response says "n remain", the server may not have counted the requests that were in flight at the same time. The gate
 *    subtracts them from n, so a client gets no 429 if nobody else uses its key. At most eight requests are in flight.
 * 3. A call rejects if it would still wait `maxElapsed` after it was made. When any call succeeds, this time starts again for
 *    each call that has had no error other than 429.
 */
export function createGate({ clock, sleep, random, onRetry, retry }: ReturnType<typeof resolveClientOptions>) {
  const { baseDelay, maxDelay, maxElapsed } = retry
  const queue = new Set<Waiter>()
  /** Requests without a response, sent less than `PATIENCE` ago. While the limit is unknown, the next request waits for these. */
  const fresh = new Set<number>()
  let [sent, settled, newest, failures, sentBeforeFailure, servedAt] = [0, 0, 0, 0, 0, 0]
  /** `known`: the newest rate limit. `allowed`: after this many requests in all, the next one waits until `fresh` is empty. */
  let [known, allowed] = [UNKNOWN, maxElapsed === 0 ? Number.POSITIVE_INFINITY : 0]
  /** Why calls wait until `opensAt`, at most for `maxElapsed`. A call with a deadline before `until` rejects at once. */
  let pause: { readonly error: PetStoreError; readonly until: number; opensAt: number } | undefined
  let timer: AbortController | undefined
  const pauseLeft = () => Math.min(maxElapsed, (pause?.opensAt ?? 0) - clock.now())

  function startNext(): void {
    if (pauseLeft() > 0) return void (queue.size > 0 && timer === undefined && waitUntilOpen())
    for (const waiter of queue) {
      if (sent - settled >= MAX_IN_FLIGHT || (sent >= allowed && fresh.size > 0)) return
      queue.delete(waiter)
      fresh.add(++sent)
      waiter.start(sent)
    }
  }

  async function waitUntilOpen([first] = queue): Promise<void> {
    timer = new AbortController()
    const report = async () => pause && (await onRetry?.({ attempt: failures, delay: pauseLeft(), error: pause.error }))
    report().catch((error) => first && reject(first, error))
    // Wait for one microtask: if `onRetry` throws, `reject` must remove the call before `startNext` could start it.
    await undefined
    for (let awaited = pause; awaited && pauseLeft() > 0 && queue.size > 0; awaited = pause) {
      timer = new AbortController()
      const open = () => Object.assign(awaited, { opensAt: 0 }) // Do not ask the clock: if it stepped back, calls would wait again.
      await sleep(pauseLeft(), timer.signal).then(open, () => {})
    }
    timer = undefined
    startNext()
  }

  function reject(waiter: Waiter, error: unknown): void {
    if (queue.delete(waiter)) waiter.reject(error)
    if (queue.size === 0) timer?.abort()
  }

  function learn(number: number, before: number, { headers, error }: Outcome): void {
    const failure = error && isTransient(error) ? error : undefined
    const latest = (failure === undefined && readRateLimit(headers)) || UNKNOWN
    const isInWindow = known.limit === latest.limit && known.resetsAt === latest.resetsAt
    const isNewest = isInWindow ? latest.remaining <= known.remaining : number >= newest
    if (maxElapsed === 0 || !isNewest) return
    ;[known, newest] = [latest, Math.max(newest, number)]
    const now = clock.now()
    // Requests in flight at the same time probably fail for the same reason, so count only the first of these failures.
    if (failure && number > sentBeforeFailure) [failures, sentBeforeFailure, allowed] = [failures + 1, sent, 0]
    if (!failure) [failures, sentBeforeFailure, allowed, servedAt] = [0, 0, before + 1 + latest.remaining, now]
    const reason = failure ?? usedUp(latest, serverTime(headers, now))
    const longest = Math.min(maxDelay, baseDelay * 2 ** Math.min(failures - 1, 30))
    const backOff = failures === 0 ? 0 : Math.ceil(random() * longest)
    const delay = Math.max(backOff, 1000 * (reason?.retryAfter ?? 0))
    pause = reason && { error: reason, until: now + delay, opensAt: now + Math.min(delay, maxElapsed) }
    queue.forEach(check)
    timer?.abort()
  }

  function check(waiter: Waiter): void {
    const deadline = Math.min(waiter.since, Math.max(waiter.made, servedAt)) + maxElapsed
    if (pause && pauseLeft() > 0 && deadline < pause.until) reject(waiter, gaveUp(pause, clock))
  }

  return async <T extends Outcome>(call: Call, task: () => Promise<T>): Promise<T> => {
    const number = await untilAborted<number>(call.signal, (start, fail) => {
      const waiter = { ...call, start, reject: fail }
      queue.add(waiter)
      check(waiter)
      startNext()
      return () => reject(waiter, call.signal?.reason)
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
