import type { LoggedRequest } from '../request-log.ts'
import type { Exchange } from './api.ts'
import type { Settings } from './settings.ts'

/** A page of animals that this tab has loaded. A reload shows it again and sends no request. */
interface KeptPage {
  readonly key: string
  readonly path: string
  /** The newest request that the page knew when it loaded the animals. */
  readonly requestId: number
  readonly resets: number
  readonly response: Pick<Exchange, 'responseHeaders' | 'responseBody'>
}

const NAME = 'petstore.page'

/** The newest state of the server that the page knows, from its settings. */
export type KnownState = Pick<Settings, 'hasSecret' | 'resets' | 'requests'>

export function keepPage(key: string, path: string, state: KnownState, response: KeptPage['response']): void {
  const { responseHeaders, responseBody } = response
  const requestId = state.requests.at(-1)?.id ?? 0
  const kept: KeptPage = { key, path, requestId, resets: state.resets, response: { responseHeaders, responseBody } }
  sessionStorage.setItem(NAME, JSON.stringify(kept))
}

/** Returns the kept page if it has this key and path, and the animals cannot have changed. */
export function keptPage(key: string, path: string, state: KnownState): KeptPage['response'] | undefined {
  const kept: KeptPage | null = JSON.parse(sessionStorage.getItem(NAME) ?? 'null')
  if (kept === null || !state.hasSecret || kept.key !== key || kept.path !== path) return undefined
  return kept.resets === state.resets && isUnchanged(kept.requestId, state.requests) ? kept.response : undefined
}

/** The methods that change nothing (RFC 9110, section 9.2.1). */
const SAFE_METHODS = ['GET', 'HEAD', 'OPTIONS']

/** Returns whether the log has all requests after `requestId`, and none changed the animals. */
function isUnchanged(requestId: number, requests: readonly LoggedRequest[]): boolean {
  const oldest = requests[0]?.id ?? 1
  const newest = requests.at(-1)?.id ?? 0
  const later = requests.filter(({ id }) => id > requestId)
  const hasAll = newest >= requestId && oldest <= requestId + 1
  return hasAll && later.every(({ method, status }) => SAFE_METHODS.includes(method) || status >= 400)
}
