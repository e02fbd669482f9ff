import { parseJsonIfValid } from '../../../client/json.ts'
import { readRetryAfter, serverTime } from '../../../client/response.ts'
import { readResponse } from '../../../http/body-bytes.ts'
import type { Clock } from '../../../ports.ts'
import { innermostMessage } from '../../../support/describe-value.ts'
import { trimEndOf } from '../../../support/text.ts'
import { sleep, systemClock } from '../../../support/time.ts'

/** The options of {@link httpContract}. */
export interface HttpContractOptions {
  /** The URL of the API with its version, such as `http://127.0.0.1:3000/v1`. */
  readonly baseUrl: string
  /**
   * The token of an API key, preferably of the plan `pro`. The suite adds animals with it, which
   * nothing deletes.
   */
  readonly token: string
  /**
   * The token of a key with at most 100 requests per minute, which the suite uses up.
   * @default none: 429 is not tested
   */
  readonly limitedToken?: string | undefined
  /**
   * The token of a key with `access: 'read'`.
   * @default none: 403 is not tested
   */
  readonly readOnlyToken?: string | undefined
  /** How long a response may take, in milliseconds. @default 10000 */
  readonly timeout?: number | undefined
  /** Sends the requests. @default the global `fetch` */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined
  /** The clock that is used if a response has no `Date` header. @default the system clock */
  readonly clock?: Clock | undefined
}

export interface ContractRequest {
  /** The body; an object is sent as JSON. */
  readonly body?: string | object
  /**
   * Headers besides `Authorization`.
   * @default `Content-Type: application/json` if there is a body
   */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * The value of `Authorization`; `null` for none.
   * @default the option `token` as a bearer token
   */
  readonly authorization?: string | null
}

export type ContractClient = ReturnType<typeof contractClient>
export type ContractResponse = Awaited<ReturnType<ContractClient['send']>>

/**
 * Thrown if the suite would have to wait too long for the limit of the API key, or of this
 * machine's IP address.
 */
export class LimitReached extends Error {}

/** Thrown if no response arrives in time. */
export class NoResponse extends Error {}

/**
 * The longest total wait after 429 responses, in seconds: long enough for a limit per minute, but
 * not for one per day.
 */
const MAX_WAIT = 180

/**
 * To get a 429, a rule sends requests until the limit is reached, but only if the limit per minute
 * is at most this.
 */
const MAX_REQUESTS = 100

/** @param onWait - called before each wait, with the number of seconds */
export function contractClient(
  {
    baseUrl,
    token,
    limitedToken,
    readOnlyToken,
    timeout = 10_000,
    clock = systemClock,
    ...target
  }: HttpContractOptions,
  onWait: (seconds: number) => void = () => {},
) {
  const root = trimEndOf(baseUrl, '/')
  const fetch = target.fetch ?? ((url, init) => globalThis.fetch(url, init))
  let patience = MAX_WAIT
  /**
   * Set if the suite cannot wait until the limit of the key or address is reset. `send` then
   * throws, to avoid a ban.
   */
  const usedUp: { key?: LimitReached; readOnlyKey?: LimitReached; address?: LimitReached } = {}
  const subjectOf = (authorization: string | null | undefined): keyof typeof usedUp => {
    if (authorization === undefined || authorization?.endsWith(` ${token}`)) return 'key'
    return authorization === `Bearer ${readOnlyToken}` ? 'readOnlyKey' : 'address'
  }

  async function sendOnce(name: string, request: ContractRequest) {
    const { body, authorization = `Bearer ${token}` } = request
    const [method = '', path = ''] = name.split(' ')
    const sent = new Headers(request.headers)
    if (authorization !== null) sent.set('Authorization', authorization)
    if (body !== undefined && !sent.has('Content-Type')) sent.set('Content-Type', 'application/json')
    const url = /^https?:/.test(path) ? path : root + path
    const signal = AbortSignal.timeout(timeout)
    const content = typeof body !== 'object' || body instanceof Uint8Array ? body : JSON.stringify(body)
    try {
      const init = { method, headers: sent, body: (content ?? null) as BodyInit, redirect: 'manual', signal } as const
      const response = await fetch(url, init)
      const text = new TextDecoder().decode(await readResponse(response))
      const { status, headers } = response
      /** The time of the server, in milliseconds since the Unix epoch. */
      const time = serverTime(headers, clock.now())
      return { name, url, status, headers, time, text, json: parseJsonIfValid(text) }
    } catch (cause) {
      if (signal.aborted) throw new NoResponse(`${name}: no response within ${timeout / 1_000} seconds`, { cause })
      throw new Error(`${name}: ${innermostMessage(cause)}`, { cause })
    }
  }

  return {
    token,
    readOnlyToken,
    /**
     * Sends a request such as `GET /pets`, with a path below `baseUrl` or a whole URL. After a 429,
     * waits and retries.
     */
    async send(name: string, request: ContractRequest = {}) {
      const subject = subjectOf(request.authorization)
      for (;;) {
        if (usedUp[subject] !== undefined) throw usedUp[subject]
        const response = await sendOnce(name, request)
        if (response.status !== 429) return response
        // Earlier requests with this API key or from this IP address have used up the limit.
        const retryAfter = readRetryAfter(response.headers, response.time)
        // Wait for a second at least: otherwise, the suite would flood the server.
        const seconds = Math.max(1, retryAfter ?? 1)
        if (seconds > patience) {
          const reason =
            retryAfter === undefined ? 'there is no Retry-After' : `the next request has to wait ${seconds} seconds`
          const limit = `the suite waits at most ${MAX_WAIT} seconds in all`
          usedUp[subject] = new LimitReached(`${name}: the limit is used up, and ${reason}; ${limit}`)
          continue
        }
        patience -= seconds
        onWait(seconds)
        await sleep(seconds * 1_000)
      }
    },
    /**
     * Sends requests with the token `limitedToken` until its limit is used up. Returns the 429
     * response.
     */
    async useUp() {
      for (let i = 0; i <= MAX_REQUESTS; i++) {
        const response = await sendOnce('GET /pets?limit=1', { authorization: `Bearer ${limitedToken}` })
        if (response.status === 429) return response
      }
      throw new Error(`expected a 429 after at most ${MAX_REQUESTS} requests with the limited key`)
    },
  }
}
