import { parse, stringify } from 'lossless-json'
import type { LoggedRequest } from '../request-log.ts'
import { headerOf } from './cost.ts'
import { plural } from './format.ts'

/** Parses JSON with exact numbers. Returns `undefined` if the text is not JSON. */
export function parsed(text: string): unknown {
  try {
    return parse(text)
  } catch {
    return undefined
  }
}

/** Indents a JSON text and keeps its numbers exact. Returns any other text unchanged. */
export function indented(json: string): string {
  const value = parsed(json)
  return value === undefined ? json : (stringify(value, undefined, 2) ?? json)
}

/** A title and a text for each kind of 429. `address` is for requests without a valid key. */
export const REFUSALS = {
  ban: [
    'This key is banned',
    'The key kept sending requests after a 429. Until the ban ends, the server refuses every request.',
  ],
  address: [
    'The limit of your address is reached',
    'Requests without a valid key are counted by address. Until the limit resets, they get 429 instead of 401.',
  ],
  key: [
    'The limit is reached',
    'Until the limit resets, the server refuses every request. Wait for the time in Retry-After before the next request.',
  ],
} as const

export function refusalOf(code: unknown, isByAddress: boolean): keyof typeof REFUSALS {
  if (code === 'api_key_banned') return 'ban'
  return isByAddress ? 'address' : 'key'
}

export function explanationOf(request: LoggedRequest): string {
  const { status, key, method } = request
  const body = parsed(request.responseBody)
  const { code, message, id } = Object(body) as Record<'code' | 'message' | 'id', unknown>
  if (status === 429) return `${message} ${REFUSALS[refusalOf(code, key === undefined)][1]}`
  if (status >= 400) return String(message ?? `The server responded with ${status}.`)
  if (status === 201) return `The animal was added. Its id is ${id}.`
  if (method === 'HEAD' || body === undefined) return 'The request succeeded.'
  const more = headerOf(request, 'X-Next-Cursor') === undefined ? '' : ' The header Link leads to the next page.'
  return `The request succeeded and returned ${plural(Array.isArray(body) ? body.length : 1, 'animal')}.${more}`
}
