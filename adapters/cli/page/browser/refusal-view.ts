import type { Exchange } from './api.ts'
import { headerOf } from './cost.ts'
import { byId, setText } from './dom.ts'
import { REFUSALS } from './explanation.ts'
import { duration } from './format.ts'

/** `endsAt` is a time of the browser's clock. */
export interface Refusal {
  readonly exchange: Exchange
  readonly endsAt: number
  readonly kind: keyof typeof REFUSALS
}

export function showRefusal(refusal: Refusal | undefined): void {
  const box = byId('refusal')
  box.hidden = refusal === undefined
  if (refusal === undefined) {
    setText(byId('refusal-title'), '')
    return
  }
  const { exchange, endsAt, kind } = refusal
  box.classList.toggle('bad', kind === 'ban')
  const [title, text] = REFUSALS[kind]
  setText(byId('refusal-title'), title)
  setText(byId('refusal-text'), text)
  setText(byId('refusal-left'), duration(endsAt - Date.now()))
  setText(byId('refusal-retry'), `${headerOf(exchange, 'Retry-After')} (seconds)`)
  setText(byId('refusal-body'), exchange.responseBody)
}
