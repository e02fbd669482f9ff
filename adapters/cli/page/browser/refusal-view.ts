import type { Exchange } from './api.ts'
import { headerOf } from './cost.ts'
import { byId, setText } from './dom.ts'
import { duration } from './format.ts'

/** `endsAt` is a time of the browser's clock. */
export interface Refusal {
  readonly exchange: Exchange
  readonly endsAt: number
  /** True if requests were counted by the client's IP address, because they had no valid key. */
  readonly isByAddress: boolean
}

export function isBan({ exchange }: Refusal): boolean {
  return exchange.code === 'api_key_banned'
}

export function showRefusal(refusal: Refusal | undefined): void {
  const box = byId('refusal')
  box.hidden = refusal === undefined
  if (refusal === undefined) {
    setText(byId('refusal-title'), '')
    return
  }
  const { exchange, endsAt, isByAddress } = refusal
  box.classList.toggle('bad', isBan(refusal))
  const [title, text] = TEXTS[isBan(refusal) ? 'ban' : isByAddress ? 'address' : 'key']
  setText(byId('refusal-title'), title)
  setText(byId('refusal-text'), text)
  setText(byId('refusal-left'), duration(endsAt - Date.now()))
  setText(byId('refusal-retry'), `${headerOf(exchange, 'Retry-After')} (seconds)`)
  setText(byId('refusal-body'), exchange.responseBody)
}

const TEXTS = {
  ban: [
    'This key is banned',
    'The key kept sending requests after a 429. Until the ban ends, the server refuses every request.',
  ],
  address: [
    'The limit of your address is reached',
    'Requests without a valid key are counted by address. Until the limit resets, they get 429 in place of 401.',
  ],
  key: [
    'The limit is reached',
    'Until the limit resets, the server refuses every request. Wait for the time in Retry-After before the next request.',
  ],
} as const
