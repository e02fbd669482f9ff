import type { QuotaCount, QuotaRequest, QuotaStore } from '../../ports.ts'
import { countRequest, newQuotaState, type QuotaState } from '../../quota/counting-rule.ts'
import type { ManualClock } from '../clock.ts'
import { difference, type Steps, show } from './report.ts'

/** A request to count. Its `now` comes from the clock. */
export type Spending = Omit<QuotaRequest, 'now'>

/** A quota store whose results are compared with those of `countRequest`. */
export interface CheckedQuota {
  /** The expected counts, by subject. */
  readonly states: ReadonlyMap<string, QuotaState>
  /** Sends `times` equal requests at once, and accepts their results in any order. */
  spend(spending: Spending, times?: number): Promise<void>
  now(): number
  /** Sets the clock, but at most 26 hours back from its latest time. */
  setClock(time: number): void
}

interface Expected {
  readonly count: QuotaCount
  readonly before: QuotaState
}

const FURTHEST_BACK = 26 * 3_600_000

/** Adds checks to an empty quota store. */
export function checkedQuota(quota: QuotaStore, steps: Steps, clock: ManualClock): CheckedQuota {
  const states = new Map<string, QuotaState>()
  let latest = clock.now()
  return {
    states,
    now: clock.now,
    setClock(instant) {
      clock.set(Math.max(instant, latest - FURTHEST_BACK))
      latest = Math.max(latest, clock.now())
      steps.note(`the clock goes to ${showTime(clock.now())}`)
    },
    async spend(spending, times = 1) {
      const request = { ...spending, now: clock.now() }
      const state = states.get(request.subject) ?? newQuotaState()
      states.set(request.subject, state)
      const expected = Array.from({ length: times }, (): Expected => {
        const before = { ...state }
        return { before, count: countRequest(state, request) }
      })
      const text = `spend(${show(spending)})`
      const call = () => steps.call(text, () => quota.spend(request), 'it returns the counts', showCount)
      const received = await Promise.all(Array.from({ length: times }, call))
      for (const count of received) {
        const isObject = typeof count === 'object' && count !== null
        steps.check(isObject, `spend returned ${show(count)}: it returns the counts`, 'an object', count)
      }
      const granted = (counts: readonly QuotaCount[]) => counts.filter((count) => count.granted).length
      const [actual, wanted] = [granted(received), granted(expected.map(({ count }) => count))]
      steps.check(
        actual <= wanted || times === 1,
        `spend granted ${actual} of ${times} requests at once: the limits allow ${wanted}, and spend is one atomic step`,
        `${wanted} granted`,
        `${actual} granted`,
      )
      received.sort(byUse)
      expected.sort((a, b) => byUse(a.count, b.count))
      received.forEach((count, i) => void checkCount(steps, request, count, expected[i] as Expected))
    },
  }
}

function byUse(a: QuotaCount, b: QuotaCount): number {
  return Number(b.granted) - Number(a.granted) || a.usedInMinute - b.usedInMinute || a.bannedUntil - b.bannedUntil
}

function checkCount(steps: Steps, request: QuotaRequest, received: QuotaCount, { count, before }: Expected): void {
  const differs = difference(received, count)
  if (differs === undefined) return
  const name = differs.name as keyof QuotaCount
  const value = (counts: QuotaCount) =>
    `${name} ${typeof counts[name] === 'number' && name !== 'usedInMinute' && name !== 'usedInDay' ? showTime(counts[name]) : show(counts[name])}`
  const sentence = ruleOf(request, received, count, before, name) ?? `spend returned ${value(received)}`
  steps.check(false, sentence, value(count), value(received))
}

/** Returns a sentence about the rule that the member `name` of a count breaks. */
function ruleOf(
  { subject, limits, ban, now }: QuotaRequest,
  received: QuotaCount,
  expected: QuotaCount,
  before: QuotaState,
  name: keyof QuotaCount,
): string | undefined {
  const banHasEnded = before.bannedUntil > 0 && before.bannedUntil <= now
  const isFirst = before.dayEndsAt === 0
  switch (name) {
    case 'granted': {
      if (received.granted) {
        if (before.bannedUntil > now)
          return `spend granted a request during a ban, which ends at ${showTime(before.bannedUntil)}`
        if (expected.usedInMinute >= limits.perMinute)
          return `spend granted request ${expected.usedInMinute + 1} of the minute: perMinute is ${limits.perMinute}`
        return `spend granted request ${expected.usedInDay + 1} of the day: perDay is ${limits.perDay}`
      }
      const end = 'spend refused a request'
      if (isFirst) return `spend refused the first request of ${show(subject)}: each subject has counts of its own`
      if (banHasEnded) return `${end} after the end of the ban at ${showTime(before.bannedUntil)}`
      if (before.usedInDay > 0 && before.dayEndsAt <= now) return `${end} on a new day: its counts begin at 0`
      if (received.usedInMinute > 0 && before.minuteEndsAt <= now)
        return `${end} in a new minute: its count begins at 0`
      return `${end} within the limits: ${expected.usedInMinute - 1} of ${limits.perMinute} used in this minute, ${expected.usedInDay - 1} of ${limits.perDay} on this day`
    }
    case 'usedInMinute':
    case 'usedInDay': {
      const window = name === 'usedInMinute' ? 'minute' : 'day'
      if (received[name] > expected[name] && !expected.granted)
        return `spend counted a refused request in the ${window}: a refused request counts in neither window`
      if (isFirst)
        return `spend returned ${name} ${show(received[name])} for the first request of ${show(subject)}: each subject has counts of its own`
      const has =
        before[name] > 0 && before[`${window}EndsAt`] <= now
          ? `a new ${window} begins at 0`
          : `${expected[name]} requests of this ${window} were granted, and refused requests do not count`
      return `spend returned ${name} ${show(received[name])}: ${has}`
    }
    case 'minuteEndsAt':
    case 'dayEndsAt': {
      const window = name === 'minuteEndsAt' ? 'minute' : 'day'
      if (expected[name] % 60_000 !== 0)
        return `spend returned another ${name}: after the clock steps back, a window ends at most one ${window} later`
      return `spend returned another ${name}: windows are whole ${window}s of UTC, and do not begin with the first request`
    }
    case 'bannedUntil': {
      if (ban === false) return 'spend returned bannedUntil although ban is false'
      if (banHasEnded && expected.bannedUntil === 0)
        return `spend returned bannedUntil after the end of the ban at ${showTime(before.bannedUntil)}`
      if (received.bannedUntil === 0)
        return `spend started no ban: afterRefusals is ${ban.afterRefusals}, and so many requests of the minute were refused`
      if (expected.bannedUntil === 0) return `spend started a ban too early: afterRefusals is ${ban.afterRefusals}`
      return `spend returned another bannedUntil: a ban ends ${ban.seconds} seconds after the refusal that started it`
    }
    case 'now':
      return 'spend returned another now: it is the time at which the store decided'
    default:
      return undefined
  }
}

function showTime(time: number): string {
  const isDate = Number.isFinite(time) && Math.abs(time) <= 8.64e15
  return time === 0 || !isDate ? String(time) : new Date(time).toISOString()
}

function showCount(count: QuotaCount): string {
  if (typeof count !== 'object' || count === null) return show(count)
  const ban = count.bannedUntil ? `, banned until ${showTime(count.bannedUntil)}` : ''
  return `${count.granted ? 'granted' : 'refused'}, ${count.usedInMinute} in the minute, ${count.usedInDay} on the day${ban}`
}
