import type { ApiKey, UsageWindow } from '../model.ts'
import type { QuotaCount, QuotaRequest } from '../ports.ts'
import type { LimitReport } from '../reports/observers.ts'
import { boundedMap } from '../support/bounded-map.ts'
import { windowsOf } from './rate-limit.ts'

/**
 * How many reports are remembered for each window, and how many for bans: at most about 40 MB. With
 * more customers at their limit, each refusal could be reported again.
 */
const MAX_REPORTS = 50_000

/** Finds out which counts `onLimit` should hear of. */
export interface LimitEvents {
  /** Returns the reports that are new with this count, and remembers them. */
  takeNew(key: ApiKey, request: Pick<QuotaRequest, 'subject' | 'limits'>, count: QuotaCount): readonly LimitReport[]
  /** Forgets the reports about a subject whose counts have been reset. */
  forget(subject: string): void
}

/**
 * Remembers what `onLimit` has heard. A window is known by its end and its limit: after a change to
 * another plan, the new limit is reported too.
 * @param warnAt - the share of a limit at which a subject is warned
 */
export function limitEvents(warnAt: number): LimitEvents {
  /** The names of reports, with their subjects. Maps of their own, so that minutes do not displace days. */
  const reported = {
    minute: boundedMap<string>(MAX_REPORTS),
    day: boundedMap<string>(MAX_REPORTS),
    ban: boundedMap<string>(MAX_REPORTS),
  }

  function isReported(kind: keyof typeof reported, name: string): boolean {
    return reported[kind].get(name) !== undefined
  }

  /** Remembers a report, and returns whether it is new. */
  function takeIfNew(kind: keyof typeof reported, name: string, subject: string): boolean {
    if (isReported(kind, name)) return false
    reported[kind].set(name, subject)
    return true
  }

  function eventOf({ used, limit }: UsageWindow): 'warned' | 'reached' | undefined {
    if (used >= limit) return 'reached'
    // Not `used >= warnAt * limit`, because 0.55 * 100 is greater than 55.
    return used / limit >= warnAt ? 'warned' : undefined
  }

  function isWindowNews(window: 'minute' | 'day', usage: UsageWindow, subject: string, event: string): boolean {
    const line = `${usage.resetsAt} ${usage.limit} ${subject}`
    // A count may arrive after a later one, which has reached the limit.
    return !isReported(window, `reached ${line}`) && takeIfNew(window, `${event} ${line}`, subject)
  }

  /** A short ban may begin several times in one window, and a long one lasts for several windows. */
  function isBanNews(window: 'minute' | 'day', { resetsAt }: UsageWindow, subject: string, until: number): boolean {
    return (
      takeIfNew('ban', `${until} ${subject}`, subject) && takeIfNew(window, `banned ${resetsAt} ${subject}`, subject)
    )
  }

  return {
    takeNew(key, { subject, limits }, count) {
      const reports: LimitReport[] = []
      const windows = windowsOf(count, limits)
      for (const window of ['minute', 'day'] as const) {
        const { limit, used, resetsAt } = windows[window]
        const event = eventOf(windows[window])
        if (event && isWindowNews(window, windows[window], subject, event))
          reports.push({ key, window, event, used, limit, resetsAt })
      }
      const { bannedUntil, now } = count
      const window = windows.day.remaining === 0 ? 'day' : 'minute'
      if (bannedUntil > now && isBanNews(window, windows[window], subject, bannedUntil)) {
        const { limit, used } = windows[window]
        reports.push({ key, window, event: 'banned', used, limit, resetsAt: bannedUntil })
      }
      return reports
    },
    forget(subject) {
      for (const names of Object.values(reported))
        for (const [name, other] of names.entries()) if (other === subject) names.delete(name)
    },
  }
}
