import { parseJson } from '../../client/parse-json.ts'
import { serverTime } from '../../client/rate-limit-headers.ts'
import { readRetryAfter } from '../../client/response-error.ts'
import { readResponse } from '../../http/read-response.ts'
import type { Clock } from '../../ports.ts'
import { innermostMessage } from '../../support/describe-value.ts'
import { sleep, systemClock } from '../../support/time.ts'

/** The server under test. */
export interface HttpContractTarget {
  /** The URL of the API with its version, such as `http://127.0.0.1:3000/v1`. */
  readonly baseUrl: string
  /** The token of an API key, with which the suite sends about 150 requests and adds about 45 animals. */
  readonly token: string
  /** The token of a key with at most 100 requests per minute, which the suite uses up. @default none: 429 is not tested */
  readonly limitedToken?: string | undefined
  /** How long a response may take, in milliseconds. @default 10000 */
  readonly timeout?: number | undefined
  /** Sends the requests. @default the global `fetch` */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined
  /** The clock that is used if a response has no `Date` header. @default the system clock */
  readonly clock?: Clock | undefined
}

export interface ContractRequest {
  readonly method?: string
  /** The body; an object is sent as JSON. */
  readonly body?: string | object | Uint8Array
  /** Headers besides `Authorization`. @default `Content-Type: application/json` if there is a body */
  readonly headers?: Readonly<Record<string, string>>
  /** The value of `Authorization`; `null` for none. @default the option `token` as a bearer token */
  readonly authorization?: string | null
}

export interface ContractResponse {
  /** The method and the path of the request, for error messages. */
  readonly name: string
  readonly url: string
  readonly status: number
  readonly headers: Headers
  /** The time of the server, in milliseconds since the Unix epoch. */
  readonly time: number
  readonly text: string
  /** The body as JSON, with integers as `bigint`; `undefined` if it is not JSON. */
  readonly json: unknown
}

export interface ContractClient {
  readonly token: string
  /** Sends a request to a path after `baseUrl`, or to a whole URL. After a 429, waits and sends the request again. */
  send(path: string, request?: ContractRequest): Promise<ContractResponse>
  /** Sends a GET with the option `limitedToken`. Does not wait after a 429. */
  sendLimited(path: string): Promise<ContractResponse>
}

/** Thrown if the suite would have to wait too long for the limit of the API key, or of this machine's IP address. */
export class LimitReached extends Error {}

/** Thrown if no response arrives in time. */
export class NoResponse extends Error {}

/** Thrown if nothing listens at the URL of the server. */
export class ConnectionRefused extends Error {}

/** The longest total wait after 429 responses, in seconds: long enough for a limit per minute, but not for one per day. */
const MAX_WAIT = 180

/** @param onWait - called before each wait, with the number of seconds */
export function contractClient(
  { baseUrl, token, limitedToken, timeout = 10_000, clock = systemClock, ...target }: HttpContractTarget,
  onWait: (seconds: number) => void = () => {},
): ContractClient {
  const root = baseUrl.replace(/\/+$/, '')
  const fetch = target.fetch ?? ((url, init) => globalThis.fetch(url, init))
  let patience = MAX_WAIT
  /** The errors for limits that are used up for too long, of the key or of this machine. More requests could cause a ban. */
  const usedUp: { key?: LimitReached; address?: LimitReached } = {}

  async function sendOnce(path: string, request: ContractRequest): Promise<ContractResponse> {
    const { method = 'GET', body, authorization = `Bearer ${token}` } = request
    const headers = new Headers(request.headers)
    if (authorization !== null) headers.set('Authorization', authorization)
    if (body !== undefined && !headers.has('Content-Type')) headers.set('Content-Type', 'application/json')
    const name = `${method} ${path}`
    const url = /^https?:/.test(path) ? path : root + path
    const signal = AbortSignal.timeout(timeout)
    try {
      const response = await fetch(url, { method, headers, body: toBody(body), redirect: 'manual', signal })
      const text = new TextDecoder().decode(await readResponse(response))
      const { status, headers: responseHeaders } = response
      const time = serverTime(responseHeaders, clock.now())
      return { name, url, status, headers: responseHeaders, time, text, json: toJson(text) }
    } catch (error) {
      if (signal.aborted)
        throw new NoResponse(`${name}: no response within ${timeout / 1_000} seconds`, { cause: error })
      const ErrorClass = isRefused(error) ? ConnectionRefused : Error
      throw new ErrorClass(`${name}: ${innermostMessage(error)}`, { cause: error })
    }
  }

  return {
    token,
    async send(path, request = {}) {
      const { authorization } = request
      const subject = authorization === undefined || authorization?.endsWith(` ${token}`) ? 'key' : 'address'
      for (;;) {
        if (usedUp[subject] !== undefined) throw usedUp[subject]
        const response = await sendOnce(path, request)
        if (response.status !== 429) return response
        // Earlier requests with this API key or from this IP address have used up the limit.
        const seconds = secondsToWait(response)
        if (seconds > patience) {
          usedUp[subject] = new LimitReached(tooLong(response, seconds))
          continue
        }
        patience -= seconds
        onWait(seconds)
        await sleep(seconds * 1_000)
      }
    },
    sendLimited: (path) => sendOnce(path, { authorization: `Bearer ${limitedToken}` }),
  }
}

function tooLong({ name, headers }: ContractResponse, seconds: number): string {
  const wait = headers.has('Retry-After')
    ? `the next request has to wait ${seconds} seconds`
    : 'there is no Retry-After'
  return `${name}: the limit is used up, and ${wait}; the suite waits at most ${MAX_WAIT} seconds in all`
}

/** Returns the seconds in `Retry-After`, or 1 without the header: without a wait, the suite would flood the server. */
function secondsToWait({ headers, time }: ContractResponse): number {
  return Math.max(1, readRetryAfter(headers.get('Retry-After'), { now: () => time }) ?? 1)
}

function toBody(body: ContractRequest['body']): string | Uint8Array<ArrayBuffer> | null {
  if (body === undefined) return null
  if (typeof body === 'string') return body
  return body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body)
}

/** For a host name with several IP addresses, Node's `fetch` has one error for each of them in `cause.errors`. */
function isRefused(error: unknown): boolean {
  const { cause = error } = Object(error) as { cause?: unknown }
  const { code, errors = [] } = Object(cause) as { code?: string; errors?: { code?: string }[] }
  return [code, errors[0]?.code].some((one) => one === 'ECONNREFUSED' || one === 'ConnectionRefused')
}

function toJson(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}
