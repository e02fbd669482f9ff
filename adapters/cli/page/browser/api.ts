import { parse } from 'lossless-json'

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

/** The usage of both limits of a key, as `/usage` reports it. Times are in milliseconds since the Unix epoch. */
export interface Usage {
  readonly plan: string
  readonly now: number
  readonly minute: { readonly limit: number; readonly used: number; readonly endsAt: number }
  readonly day: { readonly limit: number; readonly used: number; readonly endsAt: number }
  readonly bannedUntil: number
  readonly ban: { readonly afterRefusals: number; readonly seconds: number } | false
}

/** The options of {@link Api.send}. */
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
    const headers: Record<string, string> = this.key === '' ? {} : { Authorization: `Bearer ${this.key}` }
    if (requestBody !== undefined) headers['Content-Type'] = 'application/json'
    const response = await fetch(target, { method, headers, body: requestBody ?? null })
    const text = await response.text()
    const body = parsed(text)
    const code = response.ok ? '' : String((body as { code?: unknown } | undefined)?.code ?? response.status)
    const exchange = {
      method,
      target,
      requestBody,
      status: response.status,
      headers: response.headers,
      text,
      body,
      code,
    }
    this.#onExchange(exchange, options)
    return exchange
  }

  /**
   * Returns the usage of the key; `undefined` before the first request with the key. The request for the usage is not counted.
   */
  async usage(): Promise<Usage | undefined> {
    if (this.key === '') return undefined
    const response = await fetch('/usage', { headers: { Authorization: `Bearer ${this.key}` } })
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
