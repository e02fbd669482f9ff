import { parseJson } from '../../client/parse-json.ts'
import { sleep } from '../../client/sleep.ts'
import { check } from '../contract/assert.ts'

/** The server under test. */
export interface HttpContractTarget {
  /** The address of the API with its version, such as `http://127.0.0.1:3000/v1`. */
  readonly baseUrl: string
  /** The token of a key. The suite adds some animals, and sends fewer than 60 requests with the key. */
  readonly token: string
  /**
   * The token of a key with at most 100 requests per minute, which the suite uses up. Without it, there is no test of 429.
   * @default none
   */
  readonly limitedToken?: string | undefined
  /** Sends the requests. @default the global `fetch` */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined
}

/** A request of a row. */
export interface ContractRequest {
  readonly method?: string
  /** The body; an object is sent as JSON. */
  readonly body?: string | object
  readonly contentType?: string
  /** The value of `Authorization`; `null` for none. @default the key of the target */
  readonly authorization?: string | null
}

/** A response of the server under test. */
export interface ContractResponse {
  /** What was requested, for messages. */
  readonly name: string
  readonly url: string
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body as JSON, with integers as `bigint`; `undefined` if it is not JSON. */
  readonly json: unknown
}

/** What a row works with. */
export interface ContractClient {
  /** Sends a request to a path below the base address, or to a whole URL. */
  send(path: string, request?: ContractRequest): Promise<ContractResponse>
  /** Sends the same with the key that may be used up, and does not wait after a 429. */
  sendLimited(path: string): Promise<ContractResponse>
}

/** The longest wait after a 429 that the suite did not provoke, in seconds. It covers the window of a minute. */
const MAX_WAIT = 60

/** Creates the client of the rows. */
export function contractClient({ baseUrl, token, limitedToken, ...target }: HttpContractTarget): ContractClient {
  const root = baseUrl.replace(/\/+$/, '')
  const fetch = target.fetch ?? ((url, init) => globalThis.fetch(url, init))

  async function sendOnce(path: string, request: ContractRequest): Promise<ContractResponse> {
    const { method = 'GET', body, contentType = 'application/json', authorization = `Bearer ${token}` } = request
    const headers = new Headers()
    if (authorization !== null) headers.set('Authorization', authorization)
    if (body !== undefined) headers.set('Content-Type', contentType)
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
    const url = /^https?:/.test(path) ? path : root + path
    const response = await fetch(url, { method, headers, body: text ?? null, redirect: 'manual' })
    const received = await response.text()
    const { status } = response
    return { name: `${method} ${path}`, url, status, headers: response.headers, text: received, json: toJson(received) }
  }

  return {
    async send(path, request = {}) {
      for (;;) {
        const response = await sendOnce(path, request)
        if (response.status !== 429) return response
        // The key, or the address of this machine, has been used before.
        const seconds = Number(response.headers.get('Retry-After') ?? Number.NaN)
        check(seconds <= MAX_WAIT, `${response.name}: refused, and Retry-After is longer than ${MAX_WAIT} seconds`)
        await sleep(seconds * 1000)
      }
    },
    sendLimited: (path) => sendOnce(path, { authorization: `Bearer ${limitedToken}` }),
  }
}

function toJson(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}
