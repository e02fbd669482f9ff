import { parse } from 'lossless-json'
import type { Usage } from '../usage.ts'
import { secretHeader } from './settings.ts'

/** One request to the API, and its response. */
export interface Exchange {
  readonly method: string
  /** The request target, such as `/v1/pets?limit=5`. */
  readonly target: string
  readonly requestBody?: string | undefined
  readonly status: number
  readonly headers: Headers
  /** The response body, exactly as it arrived. */
  readonly text: string
  /** The parsed response body, with exact numbers; `undefined` if it is not JSON. */
  readonly body: unknown
  /** The code of an error response; empty if the request succeeded. */
  readonly code: string
}

/** An animal. `toString` of its numbers returns all digits of an int64. */
export interface Animal {
  readonly id: { toString(): string }
  readonly name: string
  readonly categoryId: { toString(): string }
  readonly status?: string
}

export interface SendOptions {
  /** Whether the page shows the response as the last one. @default true */
  readonly isShown?: boolean
}

/** Sends the page's requests. */
export class Api {
  key = ''
  readonly #basePath: string
  readonly #onExchange: (exchange: Exchange, options: SendOptions) => void

  constructor(basePath: string, onExchange: (exchange: Exchange, options: SendOptions) => void) {
    this.#basePath = basePath
    this.#onExchange = onExchange
  }

  /**
   * Sends a request, and passes the request and its response to the listener.
   *
   * @throws {TypeError} if no response arrives
   */
  async send(method: string, path: string, requestBody?: string, options: SendOptions = {}): Promise<Exchange> {
    const target = this.#basePath + path
    const sent: Record<string, string> = this.key === '' ? {} : { Authorization: `Bearer ${this.key}` }
    if (requestBody !== undefined) sent['Content-Type'] = 'application/json'
    const response = await fetch(target, { method, headers: sent, body: requestBody ?? null })
    const { status, headers } = response
    const text = await response.text()
    const body = parsed(text)
    const code = response.ok ? '' : String((body as { code?: unknown } | undefined)?.code ?? status)
    const exchange = { method, target, requestBody, status, headers, text, body, code }
    this.#onExchange(exchange, options)
    return exchange
  }

  /**
   * Returns the usage of the key; `undefined` before the first request with the key. The request for the usage is not counted.
   */
  async usage(): Promise<Usage | undefined> {
    if (this.key === '') return undefined
    const response = await fetch('/usage', { headers: { ...secretHeader(), Authorization: `Bearer ${this.key}` } })
    return response.ok ? ((await response.json()) ?? undefined) : undefined
  }
}

/** Returns the message of an error response. */
export function messageOf({ body, status }: Exchange): string {
  return String((body as { message?: unknown } | undefined)?.message ?? `The server responded with ${status}.`)
}

function parsed(text: string): unknown {
  try {
    return parse(text)
  } catch {
    return undefined
  }
}
