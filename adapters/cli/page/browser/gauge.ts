import type { RateLimit } from '../../../../src/model.ts'
import { create, setText } from './dom.ts'
import { duration } from './format.ts'

/**
 * Returns a bar that shows how many requests remain, and when the window ends.
 * @param label - the name for screen readers
 */
export function createGauge(label: string, title: string) {
  const reset = create('p', 'gauge-reset small')
  const count = create('strong')
  const rest = create('span')
  const bar = create('div', 'gauge-bar')
  const name = create('strong', '', title)
  const head = create('p', 'row', name, create('span', 'gauge-count small', count, ' ', rest))
  const meter = create('div', '', head, create('div', 'gauge-track', bar))
  meter.setAttribute('role', 'meter')
  meter.setAttribute('aria-label', label)
  meter.setAttribute('aria-valuemin', '0')
  const element = create('div', 'gauge', meter, reset)
  return {
    element,
    /** @param bannedUntil - when a ban ends, in milliseconds since the Unix epoch; 0 for no ban */
    show(window: RateLimit | undefined, now: number, bannedUntil = 0): void {
      const limit = window?.limit ?? 0
      const isBanned = bannedUntil > now
      const isOver = window !== undefined && now >= window.resetsAt
      const unused = isOver ? limit : (window?.remaining ?? 0)
      const remaining = isBanned ? 0 : unused
      const part = limit === 0 ? 0 : remaining / limit
      const warning = part > 0 ? 'warn' : 'bad'
      element.className = `gauge ${window === undefined || part > 0.25 ? '' : warning}`
      bar.style.width = `${part * 100}%`
      const text = window === undefined ? 'not known yet' : `of ${limit.toLocaleString('en')} left`
      setText(count, window === undefined ? '–' : remaining.toLocaleString('en'))
      setText(rest, text)
      if (window === undefined) setText(reset, '')
      else if (isBanned) setText(reset, `Banned for ${duration(bannedUntil - now)}`)
      else setText(reset, isOver ? 'Just reset' : `Resets in ${duration(window.resetsAt - now)}`)
      meter.setAttribute('aria-valuemax', String(limit))
      meter.setAttribute('aria-valuenow', String(remaining))
      meter.setAttribute('aria-valuetext', window === undefined ? text : `${remaining} ${text}`)
    },
  }
}
