import { stringify } from 'lossless-json'
import { type Exchange, messageOf } from './api.ts'
import { byId, create } from './dom.ts'

/** The reason phrases of the API's status codes, because HTTP/2 sends none. */
const NAMES: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  400: 'Bad Request',
  401: 'Unauthorized',
  404: 'Not Found',
  405: 'Method Not Allowed',
  410: 'Gone',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
}

/** The headers that the panel shows: only those that explain the response. */
const SHOWN = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'Retry-After',
  'Link',
  'X-Next-Cursor',
  'Location',
  'WWW-Authenticate',
  'Content-Type',
]

/**
 * Returns a function that shows a request and its response, at most once per animation frame, because a burst has hundreds of
 * responses.
 */
export function responseView(): (exchange: Exchange) => void {
  let last: Exchange | undefined
  return (exchange) => {
    if (last === undefined)
      requestAnimationFrame(() => {
        if (last !== undefined) show(last)
        last = undefined
      })
    last = exchange
  }
}

function show(exchange: Exchange): void {
  const { status, method, target, requestBody, headers, body, text } = exchange
  const badge = byId('response-status')
  badge.hidden = false
  badge.className = `badge ${status < 300 ? 'good' : status === 429 ? 'warn' : 'bad'}`
  badge.textContent = `${status} ${NAMES[status] ?? ''}`
  const facts = create('dl', 'facts')
  for (const name of SHOWN) {
    const value = headers.get(name)
    if (value === null) continue
    const time = name === 'X-RateLimit-Reset' ? ` (${new Date(Number(value) * 1_000).toLocaleTimeString()})` : ''
    facts.append(create('div', '', create('dt', '', name), create('dd', '', value + time)))
  }
  const response = byId('response')
  response.replaceChildren(
    create('p', 'request-line', `${method} ${target}`),
    create('p', '', explanationOf(exchange)),
    ...(requestBody === undefined ? [] : block('Request body', requestBody)),
    create('h3', '', 'Headers'),
    facts,
    ...block('Body', body === undefined ? text : (stringify(body, undefined, 2) ?? text)),
  )
}

function block(title: string, text: string): HTMLElement[] {
  const pre = create('pre', '', text)
  // Makes the text focusable, so that a keyboard can scroll it.
  pre.tabIndex = 0
  pre.setAttribute('role', 'region')
  pre.setAttribute('aria-label', title)
  return [create('h3', '', title), pre]
}

/** Returns an explanation of a response, in plain English. */
export function explanationOf(exchange: Exchange): string {
  const { status, code, headers, body } = exchange
  const seconds = headers.get('Retry-After')
  const wait = seconds === '1' ? '1 second' : `${seconds} seconds`
  switch (code) {
    case '': {
      if (status === 201) return `The animal was added. Its id is ${(body as { id?: unknown }).id}.`
      const count = Array.isArray(body) ? body.length : 1
      const more = headers.has('Link') ? ' The header Link leads to the next page.' : ' There are no further pages.'
      return `The request succeeded and returned ${count === 1 ? '1 animal' : `${count} animals`}.${more}`
    }
    case 'rate_limit_exceeded':
      return `The limit is used up, so the server refused the request. It serves this key again after ${wait}, the value of Retry-After. Further requests before then count towards a ban.`
    case 'api_key_banned':
      return `The key kept sending requests after a 429, so the server has banned it. The ban ends after ${wait}, the value of Retry-After. Requests during the ban do not make it longer.`
    case 'missing_api_key':
      return 'The request had no API key. Enter a key at the top of the page.'
    case 'invalid_api_key':
      return 'The server does not accept this API key: it is unknown, mistyped, expired or revoked.'
    case 'service_unavailable':
      return 'The server cannot reach its back end right now. Retry later.'
    case 'internal_error':
      return 'The server failed. Its operator finds the cause in its log; the request may be sent again.'
    default:
      return `The server refused the request: ${messageOf(exchange)}`
  }
}
