import type { QuotaCount, QuotaRequest } from '../../../ports.ts'
import type { QuotaState } from '../../../quota/counting-rule.ts'
import { show } from './report.ts'

const WINDOWS = [
  { window: 'minute', limit: 'perMinute', used: 'usedInMinute', end: 'minuteEndsAt' },
  { window: 'day', limit: 'perDay', used: 'usedInDay', end: 'dayEndsAt' },
] as const

/** A count that `countRequest` returns, and the state before it. */
export interface ExpectedCount {
  readonly count: QuotaCount
  readonly before: QuotaState
}

/**
 * Says which rule of counting a wrong count breaks.
 * @param name - the name of the member that is wrong
 */
export function brokenRule(
  { subject, limits, ban, now }: QuotaRequest,
  received: QuotaCount,
  { count: expected, before }: ExpectedCount,
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
      const returned = `returned ${name} ${show(received[name])}`
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

function showTime(time: number): string {
  return new Date(time).toISOString()
}
