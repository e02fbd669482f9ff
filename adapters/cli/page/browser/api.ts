import type { Pet, PetStatus } from '../../../../src/model.ts'
import type { Usage } from '../../../../src/quota/usage.ts'
import type { LoggedRequest } from '../request-log.ts'
import { parsed } from './explanation.ts'
import { secretHeader } from './session.ts'

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
  readonly status: string
}

export interface Change {
  readonly applied: boolean
  /** The animal after the change, or as it is if nothing was changed; `null` if there is none. */
  readonly pet: Animal | null
}

/** How long the server may take for a response, in milliseconds. */
const TIMEOUT = 30_000

export class Api {
  basePath = ''
  /** Whether the server accepts the key; `undefined` until a response has shown it. */
  isAccepted: boolean | undefined
  /** Whether the last request got no response, for example because a test breaks connections. */
  isSilent = false
  readonly #onExchange: (exchange: Exchange) => void
  #key = ''

  constructor(onExchange: (exchange: Exchange) => void) {
    this.#onExchange = onExchange
  }

  get key(): string {
    return this.#key
  }

  set key(key: string) {
    this.#key = key
    this.isAccepted = undefined
  }

  /** Sends a request to the API, and calls the listener. Throws if no response arrives. */
  async send(method: string, path: string, body = ''): Promise<Exchange> {
    const key = this.#key
    const target = this.basePath + path
    const sent: Record<string, string> = body === '' ? {} : { 'Content-Type': 'application/json' }
    const headers = key === '' ? sent : { ...sent, Authorization: `Bearer ${key}` }
    const time = Date.now()
    const startedAt = performance.now()
    let response: Response
    let responseBody: string
    try {
      response = await fetch(target, { method, headers, body: body || null, signal: AbortSignal.timeout(TIMEOUT) })
      responseBody = await response.text()
      this.isSilent = false
    } catch (error) {
      this.isSilent = true
      throw error
    }
    if (key === this.#key && (response.ok || response.status === 401)) this.isAccepted = response.ok
    const value = parsed(responseBody)
    const exchange = {
      id: 0,
      time,
      durationMs: Math.round((performance.now() - startedAt) * 10) / 10,
      method,
      target,
      headers: { ...sent, 'User-Agent': navigator.userAgent },
      body,
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
   * Changes the status of an animal, or removes it if `status` is `undefined`, but only if it still has the
   * status that the page shows. This is not a request to the API. Throws if it fails.
   */
  async change({ id, status: ifStatus }: Animal, status: PetStatus | undefined): Promise<Change> {
    const query = new URLSearchParams({ ifStatus, ...(status && { status }) })
    const method = status === undefined ? 'DELETE' : 'PATCH'
    const signal = AbortSignal.timeout(TIMEOUT)
    const response = await fetch(`/page/pets/${id}?${query}`, { method, headers: secretHeader(), signal })
    if (!response.ok) throw new Error(`expected a change, got status ${response.status}`)
    return parsed(await response.text()) as Change
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
