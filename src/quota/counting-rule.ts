import type { QuotaCount, QuotaRequest } from '../ports.ts'
import { DAY, MINUTE } from '../support/time.ts'

// In adapters/back-ends, this rule stands twice more: in Lua in `redis/script.ts`, and in SQL for
// PostgreSQL and D1 in `shared/counting-sql.ts`. Change all three files; `quotaContract` compares
// them.

/**
 * The counts of one subject in a quota store. All times are in milliseconds since the Unix epoch.
 */
export type QuotaState = {
  -readonly [Name in Exclude<keyof QuotaCount, 'granted' | 'now'>]: QuotaCount[Name]
} & {
  /** Refused requests in this minute that count towards the next ban. */
  refusedInMinute: number
}

/**
 * Returns the state of a subject that has sent no request.
 * @example
 * ```ts
 * import { newQuotaState } from 'petstore-kit/back-end'
 *
 * console.log(newQuotaState().usedInDay) // 0
 * ```
 */
export function newQuotaState(): QuotaState {
  return { usedInMinute: 0, minuteEndsAt: 0, usedInDay: 0, dayEndsAt: 0, refusedInMinute: 0, bannedUntil: 0 }
}

/**
 * Returns when the window at `now` ends. Windows begin at multiples of their length since the Unix
 * epoch.
 */
function windowEnd(now: number, length: number): number {
  return (Math.floor(now / length) + 1) * length
}

export function untouchedCount(now: number): QuotaCount {
  const windows = {
    usedInMinute: 0,
    minuteEndsAt: windowEnd(now, MINUTE),
    usedInDay: 0,
    dayEndsAt: windowEnd(now, DAY),
  }
  return { granted: true, now, ...windows, bannedUntil: 0 }
}

/**
 * Counts one request in `state`, or refuses it. Use this function in a quota store that can read
 * and write in one transaction; any other store must count in the same way. After the clock steps
 * back, no limit is lifted early, and no client waits longer than one window.
 * @example
 * ```ts
 * import type { QuotaStore } from 'petstore-kit'
 * import { countRequest, newQuotaState, type QuotaState } from 'petstore-kit/back-end'
 *
 * const states = new Map<string, QuotaState>()
 * export const quota: QuotaStore = {
 *   spend(request) {
 *     const state = states.get(request.subject) ?? newQuotaState()
 *     states.set(request.subject, state)
 *     return countRequest(state, request)
 *   },
 * }
 * ```
 */
export function countRequest(state: QuotaState, request: Omit<QuotaRequest, 'subject' | 'anonymous'>): QuotaCount {
  const { ban, now } = request
  roll(state, ban, now)
  const granted = isAdmissible(state, request)
  const isBanned = state.bannedUntil !== 0
  if (granted) {
    state.usedInMinute += 1
    state.usedInDay += 1
  } else if (ban !== false && !isBanned) {
    state.refusedInMinute += 1
    if (state.refusedInMinute >= ban.afterRefusals) {
      state.bannedUntil = now + ban.seconds * 1000
      state.refusedInMinute = 0
    }
  }
  return countOf(state, request, granted)
}

/**
 * Returns what `peek` of a quota store returns: the counts at `request.now`, without a change of
 * `state`.
 * @example
 * ```ts
 * import { newQuotaState, peekCount } from 'petstore-kit/back-end'
 *
 * const limits = { perMinute: 60, perDay: 1_000 }
 * console.log(peekCount(newQuotaState(), { limits, ban: false, now: 0 }).usedInMinute) // 0
 * ```
 */
export function peekCount(
  state: Readonly<QuotaState>,
  request: Omit<QuotaRequest, 'subject' | 'anonymous'>,
): QuotaCount {
  const copy = { ...state }
  roll(copy, request.ban, request.now)
  return countOf(copy, request, isAdmissible(copy, request))
}

/** Returns whether the limits and the ban permit one more request. */
function isAdmissible(state: QuotaState, { limits, ban }: Pick<QuotaRequest, 'limits' | 'ban'>): boolean {
  const isBanned = ban !== false && state.bannedUntil !== 0
  return !isBanned && state.usedInMinute < limits.perMinute && state.usedInDay < limits.perDay
}

function countOf(state: QuotaState, { ban, now }: Pick<QuotaRequest, 'ban' | 'now'>, granted: boolean): QuotaCount {
  const { usedInMinute, minuteEndsAt, usedInDay, dayEndsAt, bannedUntil } = state
  return {
    granted,
    now,
    usedInMinute,
    minuteEndsAt,
    usedInDay,
    dayEndsAt,
    bannedUntil: ban === false ? 0 : bannedUntil,
  }
}

/**
 * Resets windows and bans that have ended. After the clock steps back, shortens those that would
 * end too late.
 */
function roll(state: QuotaState, ban: QuotaRequest['ban'], now: number): void {
  if (now >= state.minuteEndsAt) {
    state.minuteEndsAt = windowEnd(now, MINUTE)
    state.usedInMinute = 0
    state.refusedInMinute = 0
  } else state.minuteEndsAt = Math.min(state.minuteEndsAt, now + MINUTE)
  if (now >= state.dayEndsAt) {
    state.dayEndsAt = windowEnd(now, DAY)
    state.usedInDay = 0
  } else state.dayEndsAt = Math.min(state.dayEndsAt, now + DAY)
  if (ban) state.bannedUntil = now >= state.bannedUntil ? 0 : Math.min(state.bannedUntil, now + ban.seconds * 1000)
}
