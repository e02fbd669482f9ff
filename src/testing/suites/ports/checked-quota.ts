import type { QuotaCount, QuotaRequest, QuotaStore } from '../../../ports.ts'
import { countRequest, newQuotaState, peekCount, type QuotaState } from '../../../quota/counting-rule.ts'
import { difference, show, showTime } from './report.ts'
import type { Session } from './runner.ts'

/** The input of `spend` without `now`, which comes from the clock. */
export type Spending = Omit<QuotaRequest, 'now'>

/** A quota store whose results are compared with those of `countRequest`. */
export type CheckedQuota = ReturnType<typeof checkedQuota>

interface Expected {
  readonly count: QuotaCount
  readonly before: QuotaState
}

const FURTHEST_BACK = 26 * 3_600_000

export function checkedQuota({ port, steps, now, setClock }: Session<QuotaStore>) {
  /** The expected counts, by subject. */
  const states = new Map<string, QuotaState>()
  let latest = now()

  function checkCount(request: QuotaRequest, received: QuotaCount, expected: Expected): void {
    const name = difference(received, expected.count)?.name as keyof QuotaCount | undefined
    if (name === undefined) return
    const shown = (count: QuotaCount) =>
      `${name} ${name.startsWith('used') ? show(count[name]) : showTime(count[name])}`
    const rule = ruleOf(request, received, expected, name)
    steps.check(false, `spend ${rule}`, shown(expected.count), shown(received))
  }

  return {
    states,
    now,
    /** Sets the clock, but at most 26 hours back from its latest time. */
    setClock(time: number): void {
      setClock(Math.max(time, latest - FURTHEST_BACK))
      latest = Math.max(latest, now())
    },
    /**
     * Compares the result of `peek` with the counts so far. Does nothing if the store has no
     * `peek`.
     */
    async peek(spending: Spending): Promise<void> {
      if (!port().peek) return
      const request = { ...spending, now: now() }
      const expected = peekCount(states.get(request.subject) ?? newQuotaState(), request)
      const text = `peek(${show(spending)})`
      const rule = 'peek must return the counts so far, and count nothing'
      const received = await steps.call(text, async () => port().peek?.(request), rule, showCount)
      const name = received === undefined ? 'result' : difference(received, expected)?.name
      steps.check(
        name === undefined,
        `peek returned a wrong ${name}: ${rule}`,
        showCount(expected),
        showCount(received),
      )
    },
    /** Resets a counter. Does nothing if the store has no `reset`. */
    async reset(spending: Spending): Promise<void> {
      if (!port().reset) return
      const { subject, anonymous } = spending
      const text = `reset(${show({ subject, anonymous })})`
      await steps.call(text, async () => port().reset?.({ subject, anonymous }), 'reset must forget the counts', show)
      states.delete(subject)
    },
    /** Sends `times` equal requests at the same time, and accepts their results in any order. */
    async spend(spending: Spending, times = 1): Promise<void> {
      const request = { ...spending, now: now() }
      const state = states.get(request.subject) ?? newQuotaState()
      states.set(request.subject, state)
      const expected = Array.from({ length: times }, (): Expected => {
        const before = { ...state }
        return { before, count: countRequest(state, request) }
      })
      const text = `spend(${show(spending)})`
      const call = () => steps.call(text, () => port().spend(request), 'spend must return the counts', showCount)
      const received = await Promise.all(Array.from({ length: times }, call))
      for (const count of received) {
        const isObject = typeof count === 'object' && count !== null
        steps.check(isObject, `spend returned ${show(count)}: spend must return the counts`, 'an object', count)
      }
      const actual = received.filter(({ granted }) => granted).length
      const wanted = expected.filter(({ count }) => count.granted).length
      steps.check(
        actual <= wanted || times === 1,
        `spend granted ${actual} of ${times} simultaneous requests: the limits allow ${wanted}, and spend must be atomic`,
        `${wanted} granted`,
        `${actual} granted`,
      )
      received.sort(byUse)
      expected.sort((a, b) => byUse(a.count, b.count))
      for (const [i, count] of received.entries()) checkCount(request, count, expected[i] as Expected)
    },
  }
}

function byUse(a: QuotaCount, b: QuotaCount): number {
  return Number(b.granted) - Number(a.granted) || a.usedInMinute - b.usedInMinute || a.bannedUntil - b.bannedUntil
}

const WINDOWS = [
  { window: 'minute', limit: 'perMinute', used: 'usedInMinute', end: 'minuteEndsAt' },
  { window: 'day', limit: 'perDay', used: 'usedInDay', end: 'dayEndsAt' },
] as const

/**
 * Says what is wrong with the count `received`, and which rule it breaks. `name` is the name of its
 * wrong member.
 */
function ruleOf(
  { subject, limits, ban, now }: QuotaRequest,
  received: QuotaCount,
  { count: expected, before }: Expected,
  name: keyof QuotaCount,
): string {
  const isFirst = before.dayEndsAt === 0
  const banEnd = showTime(before.bannedUntil)
  const banHasEnded = before.bannedUntil > 0 && before.bannedUntil <= now
  const renewed = WINDOWS.filter(({ used, end }) => before[used] > 0 && before[end] <= now)
  if (name === 'granted' && received.granted) {
    if (before.bannedUntil > now) return `granted a request during a ban, which ends at ${banEnd}`
    const { window, limit, used } = WINDOWS[expected.usedInMinute >= limits.perMinute ? 0 : 1]
    return `granted request ${expected[used] + 1} of the ${window}: ${limit} is ${limits[limit]}`
  }
  if (name === 'granted') {
    if (isFirst) return `refused the first request of ${show(subject)}: each subject has counts of its own`
    if (banHasEnded) return `refused a request after the end of the ban at ${banEnd}`
    const last = renewed.findLast(({ used }) => received[used] > 0)
    if (last) return `refused a request of a new ${last.window}: its count begins at 0`
    return `refused a request within the limits: ${expected.usedInMinute - 1} of ${limits.perMinute} used in this minute, ${expected.usedInDay - 1} of ${limits.perDay} on this day`
  }
  for (const { window, used, end } of WINDOWS) {
    if (name === used) {
      if (received[used] > expected[used] && !expected.granted)
        return `counted a refused request in the ${window}: a refused request counts in neither window`
      const returned = `returned ${name} ${show(received[used])}`
      if (isFirst) return `${returned} for the first request of ${show(subject)}: each subject has counts of its own`
      if (renewed.some((one) => one.used === used)) return `${returned}: the count of a new ${window} begins at 0`
      return `${returned}: ${expected[used]} requests of this ${window} were granted, and refused requests do not count`
    }
    if (name === end && expected[end] % 60_000 !== 0)
      return `returned a wrong ${name}: after the clock steps back, a window ends at most one ${window} after the new time`
    if (name === end)
      return `returned a wrong ${name}: windows are whole ${window}s of UTC, and do not begin with the first request`
  }
  if (name === 'bannedUntil') {
    if (ban === false) return 'returned bannedUntil although ban is false'
    if (banHasEnded && expected.bannedUntil === 0) return `returned bannedUntil although the ban ended at ${banEnd}`
    if (received.bannedUntil === 0)
      return `started no ban: afterRefusals is ${ban.afterRefusals}, and that many requests of the minute were refused`
    if (expected.bannedUntil === 0) return `started a ban too early: afterRefusals is ${ban.afterRefusals}`
    return `returned a wrong bannedUntil: a ban ends ${ban.seconds} seconds after the refusal that started it`
  }
  return name === 'now'
    ? 'returned a wrong `now`: expected the time at which the store decided'
    : `returned ${name} ${show(received[name])}`
}

function showCount(count: QuotaCount | undefined): string {
  if (typeof count !== 'object' || count === null) return show(count)
  const ban = count.bannedUntil ? `, banned until ${showTime(count.bannedUntil)}` : ''
  return `${count.granted ? 'granted' : 'refused'}, ${count.usedInMinute} in the minute, ${count.usedInDay} on the day${ban}`
}
