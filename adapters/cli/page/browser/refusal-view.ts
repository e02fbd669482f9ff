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

/** Explains a 429 or a ban, and shows the time left. */
export function showRefusal(refusal: Refusal | undefined): void {
  const box = byId('refusal')
  box.hidden = refusal === undefined
  if (refusal === undefined) {
    setText(byId('refusal-title'), '')
    return
  }
  const { exchange, endsAt, kind } = refusal
  box.className = `refusal stack ${kind === 'ban' ? 'bad' : 'warn'}`
  const [title, text] = REFUSALS[kind]
  setText(byId('refusal-title'), title)
  setText(byId('refusal-text'), text)
  setText(byId('refusal-left'), duration(endsAt - Date.now()))
  const { status, reason, responseBody } = exchange
  const retryAfter = headerOf(exchange, 'Retry-After')
  setText(byId('refusal-response'), `${status} ${reason}\nRetry-After: ${retryAfter}\n\n${responseBody}`)
}
