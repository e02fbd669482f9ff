import { PetStoreError } from '../errors.ts'
import type { RateLimit } from '../model.ts'
import { MINUTE, sleep as realSleep, systemClock, untilAborted } from '../support/time.ts'
import type { Reply } from './exchange.ts'
import type { ClientSeams, ResolvedClientOptions } from './options.ts'
import { type RateLimitWindows, readRateLimitWindows } from './rate-limit-fields.ts'
import { isTransient, readRateLimit, serverTime } from './response.ts'

/** How many requests of one client may be in flight. */
const MAX_IN_FLIGHT = 8
/**
 * At most one of this many remaining requests may be in flight, because other clients may have the
 * same key. Ten clients that use up a window together then get too few refusals for a ban.
 */
const REMAINING_PER_REQUEST = 16
/** How long the first request of a wave may hold up the next one, in milliseconds. */
const PATIENCE = 2_000
/** The upper bound of the random part of a wait, in milliseconds. Each failure in a row doubles it. */
const BASE_DELAY = 500
const MAX_DELAY = 10_000

/** The requests that are sent after one pause and before the next. */
interface Wave {
  /** How many of them are in flight. */
  inFlight: number
  /** How many of them may be in flight: one until a response says how many requests remain. */
  allowed: number
  /** Whether one of them has ended. Until then, `allowed` grows by one after each `PATIENCE`. */
  hasEnded: boolean
}

/** Why and until when all calls wait. The times are those of `now`. */
interface Pause {
  readonly error: PetStoreError
  /** Whether the server has said until when to wait. */
  readonly isAsked: boolean
  /** The earliest time of the next request. A call whose time ends before rejects at once. */
  readonly retryAt: number
  /**
   * When the next request is sent: a random time after `retryAt`, but at most `maxElapsed` after the
   * beginning of the pause.
   */
  readonly opensAt: number
  isReported: boolean
}

/**
 * Creates the gate, which makes the requests of one client wait, and sends them again. Its rules:
 * 1. At most eight requests are in flight, and at most a sixteenth of the remaining requests, but
 *    always one. A client whose key nobody else uses gets no 429.
 * 2. After a failure, or if no requests remain, all calls wait together: as long as the server
 *    asks, and then for a random time. Otherwise, all clients of a server would come back at once.
 *    After the pause, one request goes first. The others follow when it has a response.
 * 3. A call rejects if it would still wait `maxElapsed` after it was made. This time starts anew for
 *    all calls when the server serves one of them, or refuses one with a shorter wait. It does not
 *    for a call that has failed in another way.
 */
export function createGate(options: ResolvedClientOptions, seams: ClientSeams) {
  const { retries, maxElapsed, maxRetries, onRetry } = options
  const { clock = systemClock, sleep = realSleep, random = Math.random } = seams

  /** The calls that wait for one of the eight places, in their order. */
  const line = new Set<() => void>()
  let freePlaces = MAX_IN_FLIGHT
  let wave: Wave = { inFlight: 0, allowed: 1, hasEnded: false }
  /** The calls with a place that wait until the wave has room. */
  const waiting = new Set<() => void>()
  let pause: Pause | undefined
  /** How many failures in a row have begun a pause. */
  let failures = 0
  /** When the server last served the client, or refused it with a short wait. */
  let servedAt = Number.NEGATIVE_INFINITY
  /** The rate limit that the client shows to its user. */
  const rateLimit: Partial<RateLimit> & { -readonly [Name in keyof RateLimitWindows]: RateLimitWindows[Name] } = {}

  /**
   * What timers have waited, but the clock has not counted: fake timers of node:test do not replace
   * `performance`.
   */
  let skipped = 0
  /** Returns the milliseconds since an unknown start. Unlike the clock of the machine, it never steps back. */
  const now = () => (clock.monotonic?.() ?? systemClock.monotonic()) + skipped

  async function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
    const end = now() + milliseconds
    await sleep(milliseconds, signal)
    skipped += Math.max(0, end - now())
  }

  function join(queue: Set<() => void>, signal: AbortSignal): Promise<void> {
    return untilAborted(signal, (resolve) => {
      queue.add(resolve)
      return () => queue.delete(resolve)
    })
  }

  async function takePlace(signal: AbortSignal): Promise<void> {
    if (freePlaces === 0) return join(line, signal)
    freePlaces--
  }

  function leavePlace(): void {
    const [next] = line
    if (next === undefined) {
      freePlaces++
      return
    }
    line.delete(next)
    next()
  }

  /**
   * Waits until the wave has room for one more request, and counts it. Rejects if that would be
   * after the deadline.
   */
  async function joinWave(signal: AbortSignal, deadline: () => number): Promise<Wave> {
    for (;;) {
      const current = pause
      const delay = current ? Math.ceil(current.opensAt - now()) : 0
      if (current && delay > 0) {
        if (current.retryAt > deadline()) throw gaveUp(current)
        const reported = report(current, delay)
        if (reported instanceof Promise) await untilAborted(signal, (...settle) => void reported.then(...settle))
        else await wait(delay, signal)
      } else if (wave.inFlight >= wave.allowed) {
        await join(waiting, signal)
      } else {
        wave.inFlight++
        return wave
      }
    }
  }

  /** Calls `onRetry` once for each pause, and returns its result. */
  function report(current: Pause, delay: number): unknown {
    if (current.isReported) return undefined
    current.isReported = true
    return onRetry?.(current.error, { attempt: failures, delay })
  }

  /** Sends a request of a wave. Its outcome decides when the next ones are sent. */
  async function sendInWave(mine: Wave, send: () => Promise<Reply>): Promise<Reply> {
    const patience = setTimeout(() => {
      if (mine.hasEnded) return
      mine.allowed++
      wakeWaiting()
    }, PATIENCE)
    try {
      const reply = await send()
      mine.hasEnded = true
      if (reply.error && isTransient(reply.error)) recordFailure(mine, reply.error)
      else recordSuccess(mine, reply)
      return reply
    } finally {
      clearTimeout(patience)
      mine.inFlight--
      wakeWaiting()
    }
  }

  function wakeWaiting(): void {
    for (const wake of waiting) wake()
    waiting.clear()
  }

  /**
   * Keeps the newest rate limit. Responses overtake each other: in one window, the one with the
   * fewest remaining requests is the newest.
   */
  function recordRateLimit({ headers }: Reply): void {
    const received = readRateLimit(headers)
    if (received && isNewer(received, rateLimit)) Object.assign(rateLimit, received)
    const { minute, day } = readRateLimitWindows(headers, serverTime(headers, clock.now()))
    if (minute && isNewer(minute, rateLimit.minute)) rateLimit.minute = minute
    if (day && isNewer(day, rateLimit.day)) rateLimit.day = day
  }

  function recordFailure(mine: Wave, error: PetStoreError): void {
    const asked = 1000 * (error.retryAfterSeconds ?? 0)
    if (error.status === 429 && asked > 0 && asked <= maxElapsed) servedAt = now()
    // Requests that were in flight together often fail together. They are one failure, and the
    // longest wait counts.
    const isNew = mine === wave
    const isLonger = asked > Math.max(0, (pause?.opensAt ?? 0) - now())
    if (isNew) failures++
    if (isNew || isLonger) beginPause(error, asked)
  }

  /** Records a response that does not make the calls wait. It may be an error such as 404. */
  function recordSuccess(mine: Wave, { headers }: Reply): void {
    servedAt = now()
    if (mine !== wave) return
    failures = 0
    const { remaining = Number.POSITIVE_INFINITY, resetsAt = 0 } = rateLimit
    wave.allowed = Math.max(1, Math.min(MAX_IN_FLIGHT, Math.ceil(remaining / REMAINING_PER_REQUEST)))
    if (remaining > 0) return
    const rest = resetsAt - serverTime(headers, clock.now())
    // If the window ends later than in a minute, it is a day, or the clocks differ: then only a 429
    // makes the calls wait.
    if (rest > 0 && rest <= MINUTE) beginPause(usedUp(rest), rest)
  }

  /** @param asked - how long the server asks to wait, in milliseconds; 0 if it does not */
  function beginPause(error: PetStoreError, asked: number): void {
    const longest = Math.min(MAX_DELAY, BASE_DELAY * 2 ** Math.max(0, failures - 1))
    const opensAt = now() + Math.min(asked + random(asked) * longest, maxElapsed)
    const isAsked = asked > 0
    pause = { error, isAsked, retryAt: isAsked ? now() + asked : opensAt, opensAt, isReported: false }
    wave = { inFlight: 0, allowed: 1, hasEnded: false }
  }

  /**
   * Returns the error of a call that would wait too long. It is a copy, because each call adds its
   * own idempotency key.
   */
  function gaveUp({ error, isAsked, retryAt }: Pause): PetStoreError {
    const { code, message, status, cause, requestId } = error
    const rest = Math.ceil(retryAt - now())
    if (!isAsked || rest <= 0)
      return new PetStoreError(code, `${message} The call gave up after retry.maxElapsed.`, {
        status,
        cause,
        requestId,
      })
    const until = new Date(clock.now() + rest).toISOString()
    const text = `${message} The server asked to wait until ${until}, which is longer than retry.maxElapsed.`
    return new PetStoreError(code, text, { status, cause, requestId, retryAfterSeconds: Math.ceil(rest / 1000) })
  }

  /**
   * Sends a request until it succeeds, must not be repeated, or would wait too long.
   * @param send - sends the request once
   * @param isRepeatable - whether the server may carry out the request twice
   */
  async function pass(signal: AbortSignal, send: () => Promise<Reply>, isRepeatable: boolean): Promise<Reply> {
    const madeAt = now()
    /** When the first attempt began that failed in another way than by 429. */
    let failedAt = Number.POSITIVE_INFINITY
    const deadline = () => Math.min(failedAt, Math.max(madeAt, servedAt)) + maxElapsed
    const sendAndRecord = async () => {
      const reply = await send()
      recordRateLimit(reply)
      return reply
    }
    await takePlace(signal)
    try {
      if (!retries) return await sendAndRecord()
      for (let sent = 0; ; sent++) {
        const mine = await joinWave(signal, deadline)
        const begunAt = now()
        const reply = await sendInWave(mine, sendAndRecord)
        const { error } = reply
        if (!error || !isTransient(error) || sent >= maxRetries) return reply
        // A refused request has changed nothing. After any other failure, the animal may have been
        // added.
        const isRefused = error.status === 429
        if (!isRefused && !isRepeatable) return reply
        if (!isRefused) failedAt = Math.min(failedAt, begunAt)
      }
    } finally {
      leavePlace()
    }
  }

  return { pass, rateLimit: rateLimit as Readonly<typeof rateLimit> }
}

function isNewer(received: RateLimit, { limit, remaining = 0, resetsAt }: Partial<RateLimit> = {}): boolean {
  const isSameWindow = limit === received.limit && resetsAt === received.resetsAt
  return !isSameWindow || received.remaining <= remaining
}

function usedUp(rest: number): PetStoreError {
  const retryAfterSeconds = Math.ceil(rest / 1000)
  const message = `All requests of this window are used up, and it ends in ${retryAfterSeconds} seconds.`
  return new PetStoreError('rate_limit_exceeded', message, { retryAfterSeconds })
}
