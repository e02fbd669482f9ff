import type { Pet } from '../../../../src/model.ts'
import type { Usage } from '../../../../src/quota/usage.ts'
import type { LoggedRequest } from '../request-log.ts'
import type { DraftRequest } from './composer.ts'
import { parsed } from './explanation.ts'
import { secretHeader } from './settings.ts'

export interface Exchange extends LoggedRequest {
  /** The parsed response body, with exact numbers; `undefined` if it is not JSON. */
  readonly value: unknown
  /** The code of an error response; empty if the request succeeded. */
  readonly code: string
}

/** `toString` of `id` and `categoryId` returns all digits, also of a 64-bit integer. */
export interface Animal extends Record<keyof Pet, unknown> {
  readonly id: { toString(): string }
  readonly name: string
  readonly categoryId: { toString(): string }
  readonly status: string | undefined
}

/** How long the server may take for a response, in milliseconds. */
const TIMEOUT = 30_000

export class Api {
  basePath = ''
  readonly #onExchange: (exchange: Exchange) => void
  #key = ''
  /** Whether the server accepts the key; `undefined` until a response has shown it. */
  isAccepted: boolean | undefined
  /** How many requests this page has sent with the key. */
  sent = 0
  /** Whether the last request got no response, for example because a test breaks connections. */
  isSilent = false

  constructor(onExchange: (exchange: Exchange) => void) {
    this.#onExchange = onExchange
  }

  get key(): string {
    return this.#key
  }

  set key(key: string) {
    this.#key = key
    this.isAccepted = undefined
    this.sent = 0
  }

  /** Sends a request to the API, and calls the listener. Throws if no response arrives. */
  async send(method: string, path: string, requestBody = ''): Promise<Exchange> {
    const headers: Record<string, string> = requestBody === '' ? {} : { 'Content-Type': 'application/json' }
    return this.sendTo({ method, target: this.basePath + path, headers, body: requestBody })
  }

  /** As {@link send}, for any path of this server and with the headers of the caller. */
  async sendTo({ method, target, headers: sent, body: requestBody }: DraftRequest): Promise<Exchange> {
    const key = this.#key
    const authorization: Record<string, string> = key === '' ? {} : { Authorization: `Bearer ${key}` }
    const time = Date.now()
    this.sent++
    const startedAt = performance.now()
    const signal = AbortSignal.timeout(TIMEOUT)
    // The URL needs its origin: `fetch('//a/b')` would send the request to the server `a`.
    const url = location.origin + target
    const headers = { ...sent, ...authorization }
    let response: Response
    let responseBody: string
    try {
      response = await fetch(url, { method, headers, body: requestBody || null, signal })
      responseBody = await response.text()
      this.isSilent = false
    } catch (error) {
      this.isSilent = true
      throw error
    }
    const durationMs = Math.round((performance.now() - startedAt) * 10) / 10
    if (key === this.#key && (response.ok || response.status === 401)) this.isAccepted = response.ok
    const value = parsed(responseBody)
    const exchange = {
      id: 0,
      time,
      durationMs,
      method,
      target,
      headers: { ...sent, 'User-Agent': navigator.userAgent },
      body: requestBody,
      hasToken: key !== '',
      key: this.isAccepted === false ? undefined : { id: '', plan: '', label: 'the key above' },
      status: response.status,
      reason: response.statusText,
      responseHeaders: [...response.headers].flat(),
      responseBody,
      isCut: false,
      value,
      code: response.ok ? '' : String(Object(value).code ?? response.status),
    }
    this.#onExchange(exchange)
    return exchange
  }

  /**
   * Returns `null` if the key is not valid, and `undefined` if this page may not see the usage. The
   * request for the usage is not counted. Throws if no response arrives.
   */
  async usage(): Promise<Usage | null | undefined> {
    if (this.#key === '') return undefined
    const headers = { ...secretHeader(), Authorization: `Bearer ${this.#key}` }
    const response = await fetch('/usage', { headers, signal: AbortSignal.timeout(TIMEOUT) })
    return response.ok ? response.json() : undefined
  }
}

/** Returns why a request failed, without the wait after a 429: the text may stay for longer. */
export function messageOf({ value, status }: Exchange): string {
  if (status === 429) return 'The server refuses requests for now. The part "Rate limit" shows for how long.'
  return String(Object(value).message ?? `The server responded with ${status}.`)
}
