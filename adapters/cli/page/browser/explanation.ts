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

export function explanationOf(request: LoggedRequest): string {
  const { status, key, method } = request
  const body = parsed(request.responseBody)
  const { code, message, id } = Object(body) as Record<'code' | 'message' | 'id', unknown>
  const wait = plural(Number(headerOf(request, 'Retry-After') ?? 0), 'second')
  if (status < 400) {
    if (status === 201) return `The animal was added. Its id is ${id}.`
    if (method === 'HEAD' || body === undefined) return 'The request succeeded.'
    const more = headerOf(request, 'X-Next-Cursor') === undefined ? '' : ' The header Link leads to the next page.'
    return `The request succeeded and returned ${plural(Array.isArray(body) ? body.length : 1, 'animal')}.${more}`
  }
  switch (code) {
    case 'rate_limit_exceeded':
      return key === undefined
        ? `Requests without a valid key share the limit of the client's address, and this limit is used up. The server checks keys from this address again after ${wait}, the value of Retry-After.`
        : `The limit is used up, so the server refused the request. It serves this key again after ${wait}, the value of Retry-After. Further requests before then count towards a ban.`
    case 'api_key_banned':
      return `The key kept sending requests after a 429, so the server has banned it. The ban ends after ${wait}, the value of Retry-After. Requests during the ban do not make it longer.`
    case 'missing_api_key':
      return 'The request had no API key. Send the key in the header Authorization.'
    case 'invalid_api_key':
      return 'The server does not accept this API key: it is unknown, mistyped, expired or revoked.'
    case 'service_unavailable':
      return 'The server cannot reach its back end right now. Retry later.'
    case 'internal_error':
      return 'The server failed. Its operator finds the cause in its log; the request may be sent again.'
    default:
      return `The server refused the request: ${message ?? `it responded with ${status}.`}`
  }
}
