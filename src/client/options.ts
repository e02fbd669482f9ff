import { PetStoreError } from '../errors.ts'
import { isToken68 } from '../keys/token.ts'
import type { Clock } from '../ports.ts'
import {
  checkOptions,
  functionRule,
  invalidOption,
  isHttpUrl,
  isObject,
  isPositiveInteger,
  millisecondsRule,
  type OptionRules,
  timeoutRule,
} from '../support/option-rules.ts'
import { sleep, systemClock } from '../support/time.ts'
import { trimEndOf } from '../support/trim-end.ts'

/** The options of {@link createPetStoreClient}. */
export interface PetStoreClientOptions {
  /** The URL of the API with its version, such as `https://api.example/v1`. */
  readonly baseUrl: string | URL
  /** The token of an API key. */
  readonly apiKey: string
  /** Sends the requests. @default the global `fetch` at the time of each request */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined
  /** How long one attempt may take, with its whole response, in milliseconds. After that, the attempt fails. @default 30000 */
  readonly timeout?: number | undefined
  /** Called when calls begin to wait. If it throws or rejects, the first waiting call rejects with that error. @default none */
  readonly onRetry?: ((retry: UpcomingRetry) => void) | undefined
  /** When to send a request again; `false` for never. @default as often as needed within two minutes */
  readonly retry?: RetryOptions | false | undefined
}

/** Why and for how long all calls of a client wait. */
export interface UpcomingRetry {
  /** How many failures in a row have made the calls wait. 0 if they wait because no requests remain in this window. */
  readonly attempt: number
  /** The wait, in milliseconds. */
  readonly delay: number
  /** Why the client waits: the error of the newest response, or `rate_limit_exceeded` if `attempt` is 0. */
  readonly error: PetStoreError
}

/** Tests replace these to control the time. */
export interface ClientSeams {
  /** Waits for a number of milliseconds. @default a timer that rejects as soon as the signal aborts */
  readonly sleep?: (milliseconds: number, signal?: AbortSignal) => Promise<void>
  /**
   * Returns a number from 0 to 1, by which the upper bound of the random part of a wait is multiplied. Gets the milliseconds that the
   * server has asked to wait.
   * @default `Math.random`
   */
  readonly random?: (asked: number) => number
  /** The clock for waits and limits of time, and for dates in messages. @default the system clock */
  readonly clock?: Clock
}

/** When the client sends a request again. */
export interface RetryOptions {
  /**
   * How long a call may take with all its waits, in milliseconds, whatever happens to the clock of the machine. Each success of another call restarts this time for a waiting
   * call, until an attempt of the waiting call fails with an error other than 429. A call that would have to wait longer
   * rejects immediately. The default is long enough to wait for the next minute, but not for the end of a ban of 300 seconds.
   * @default 120000
   */
  readonly maxElapsed?: number | undefined
  /** The largest number of times that a request is sent again. @default as often as `maxElapsed` permits */
  readonly maxRetries?: number | undefined
  /**
   * The upper bound of the random part of the first wait, in milliseconds. It doubles with each failure. Without `Retry-After`, this
   * part is the whole wait; otherwise, it comes after the time in `Retry-After`.
   * @default 500
   */
  readonly baseDelay?: number | undefined
  /** The upper bound of the random part of every wait, in milliseconds. @default 10000 */
  readonly maxDelay?: number | undefined
}

const RULES: OptionRules<keyof PetStoreClientOptions> = {
  baseUrl: {
    expected: 'an http or https URL such as "https://api.example/v1", without credentials, query and fragment',
    check: (value) => isHttpUrl(value instanceof URL ? value.href : value),
  },
  // `resolveClientOptions` checks the key: the error of a rule contains the value, here perhaps a real token with a line break.
  apiKey: { expected: 'the token of an API key, without white space and line breaks', check: () => true },
  fetch: functionRule,
  timeout: timeoutRule,
  onRetry: functionRule,
  retry: {
    expected: 'false or { maxElapsed, maxRetries, baseDelay, maxDelay }',
    check: (value) => value === false || isObject(value),
    members: {
      maxElapsed: timeoutRule,
      maxRetries: { expected: 'a whole number, at least 0', check: (value) => value === 0 || isPositiveInteger(value) },
      maxDelay: millisecondsRule,
      baseDelay: millisecondsRule,
    },
  },
}

/** Calls the global `fetch`, which is read at each request, because tests replace it. */
async function globalFetch(url: string, init: RequestInit): Promise<Response> {
  // Without this error, the client would take the missing function for a network fault, and try again for two minutes.
  if (typeof globalThis.fetch !== 'function') throw new PetStoreError('internal_error', NO_FETCH)
  return globalThis.fetch(url, init)
}

const NO_FETCH =
  'This environment has no global fetch: pass the option fetch of the client. In Jest, use the environment jest-fixed-jsdom in place ' +
  'of jsdom.'

/** Checks the options of the client and fills in the defaults. @throws {PetStoreError} `invalid_option` */
export function resolveClientOptions(options: PetStoreClientOptions, seams: ClientSeams) {
  checkOptions(RULES, options)
  const { baseUrl, apiKey } = options
  if (baseUrl === undefined) throw invalidOption('baseUrl', RULES.baseUrl.expected, baseUrl)
  if (!isToken68(apiKey))
    throw invalidOption('apiKey', RULES.apiKey.expected, typeof apiKey === 'string' ? '***' : apiKey)
  const given: RetryOptions = options.retry === false ? { maxElapsed: 0, maxRetries: 0 } : (options.retry ?? {})
  const { maxElapsed = 120_000, maxRetries = Number.POSITIVE_INFINITY, baseDelay = 500, maxDelay = 10_000 } = given
  return {
    baseUrl: trimEndOf(String(baseUrl), '/'),
    apiKey,
    fetch: options.fetch ?? globalFetch,
    timeout: options.timeout ?? 30_000,
    onRetry: options.onRetry,
    retry: { maxElapsed, maxRetries, baseDelay, maxDelay },
    sleep,
    random: Math.random,
    clock: systemClock,
    ...seams,
  }
}
