import type { RateLimit } from '../../../../src/model.ts'
import { create, setText } from './dom.ts'
import { duration } from './format.ts'

/**
 * Returns a bar that shows how many requests remain, and when the window ends.
 * @param label - the name for screen readers
 */
export function createGauge(label: string, title: string) {
  const count = create('strong')
  const reset = create('p', 'muted')
  const meter = create('meter') as HTMLMeterElement
  meter.ariaLabel = label
  const element = create('div', '', create('p', 'row', create('strong', '', title), count), meter, reset)
  return {
    element,
    /** @param bannedUntil - when a ban ends, in milliseconds since the Unix epoch; 0 for no ban */
    show(window: RateLimit | undefined, now: number, bannedUntil = 0): void {
      if (window === undefined) {
        meter.value = 0
        setText(count, 'not known yet')
        setText(reset, '')
        return
      }
      const { limit, resetsAt } = window
      const isBanned = bannedUntil > now
      const isOver = now >= resetsAt
      const unused = isOver ? limit : window.remaining
      const remaining = isBanned ? 0 : unused
      // A browser shows a value below `high` in yellow, and one below `low` in red, because more is better.
      Object.assign(meter, { max: limit, low: 1, high: limit / 4, optimum: limit, value: remaining })
      setText(count, `${remaining.toLocaleString('en')} of ${limit.toLocaleString('en')} left`)
      if (isBanned) setText(reset, `Banned for ${duration(bannedUntil - now)}`)
      else setText(reset, isOver ? 'Just reset' : `Resets in ${duration(resetsAt - now)}`)
    },
  }
}
