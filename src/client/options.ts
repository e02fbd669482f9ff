import * as z from 'zod/mini'
import { PetStoreError } from '../errors.ts'
import { isToken68 } from '../keys/authenticate.ts'
import type { Clock } from '../ports.ts'
import { expecting } from '../schemas/expected.ts'
import {
  describeSecret,
  functionOf,
  isHttpUrl,
  milliseconds,
  optionsError,
  optionsOf,
  textThat,
  timeout,
  wholeNumber,
} from '../schemas/options.ts'
import { trimEndOf } from '../support/text.ts'
import { sleep, systemClock } from '../support/time.ts'

/** The options of {@link createPetStoreClient}. */
export interface PetStoreClientOptions {
  /** The URL of the API with its version, such as `https://api.example/v1`. */
  readonly baseUrl: string | URL
  /** The token of an API key. */
  readonly apiKey: string
  /** Sends the requests. @default the global `fetch` at the time of each request */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined
  /**
   * How long one attempt may take, with its whole response, in milliseconds. After that, the
   * attempt fails.
   * @default 30000
   */
  readonly timeout?: number | undefined
  /**
   * Called when calls begin to wait. If it throws or rejects, the first waiting call rejects with
   * that error.
   * @default none
   */
  readonly onRetry?: ((retry: UpcomingRetry) => void) | undefined
  /**
   * When to send a request again; `false` for never.
   * @default as often as needed within two minutes
   */
  readonly retry?: RetryOptions | false | undefined
}

/** Why and for how long all calls of a client wait. */
export interface UpcomingRetry {
  /**
   * How many successive failures have made the calls wait. 0 if they wait because no requests
   * remain in this window.
   */
  readonly attempt: number
  /** The wait, in milliseconds. */
  readonly delay: number
  /**
   * Why the client waits: the error of the newest response, or `rate_limit_exceeded` if `attempt`
   * is 0.
   */
  readonly error: PetStoreError
}

/** Tests replace these to control the time. */
export interface ClientSeams {
  /**
   * Waits for a number of milliseconds.
   * @default a timer that rejects as soon as the signal aborts
   */
  readonly sleep?: (milliseconds: number, signal?: AbortSignal) => Promise<void>
  /**
   * Returns a number from 0 to 1, by which the upper bound of the random part of a wait is
   * multiplied. Gets the milliseconds that the server has asked to wait.
   * @default `Math.random`
   */
  readonly random?: (asked: number) => number
  /**
   * The clock for waits and limits of time, and for dates in messages.
   * @default the system clock
   */
  readonly clock?: Clock
}

/** When the client sends a request again. */
export interface RetryOptions {
  /**
   * How long a call may take with all its waits, in milliseconds, whatever happens to the clock of
   * the machine. Each success of another call restarts this time for a waiting call. This ends when
   * an attempt of the waiting call fails with an error other than 429. A call that would have to
   * wait longer rejects immediately. The default is long enough to wait for the next minute, but
   * not for the end of a ban of 300 seconds.
   * @default 120000
   */
  readonly maxElapsed?: number | undefined
  /**
   * The largest number of times that a request is sent again.
   * @default as often as `maxElapsed` permits
   */
  readonly maxRetries?: number | undefined
  /**
   * The upper bound of the random part of the first wait, in milliseconds. It doubles with each
   * failure. Without `Retry-After`, this part is the whole wait; otherwise, it comes after the time
   * in `Retry-After`, and ends early if a call would otherwise wait longer than `maxElapsed`.
   * @default 500
   */
  readonly baseDelay?: number | undefined
  /** The upper bound of the random part of every wait, in milliseconds. @default 10000 */
  readonly maxDelay?: number | undefined
}

const retryOptions = optionsOf<RetryOptions>({
  maxElapsed: z.optional(timeout),
  maxRetries: z.optional(wholeNumber(0)),
  baseDelay: z.optional(milliseconds),
  maxDelay: z.optional(milliseconds),
})

const clientOptions = optionsOf<PetStoreClientOptions>({
  baseUrl: z.custom<string | URL>(
    (value) => isHttpUrl(String(value)) && (typeof value === 'string' || value instanceof URL),
    expecting('an http or https URL such as "https://api.example/v1", without credentials, query and fragment'),
  ),
  apiKey: textThat(
    isToken68,
    expecting('the token of an API key, without white space and line breaks', describeSecret),
  ),
  fetch: z.optional(functionOf<NonNullable<PetStoreClientOptions['fetch']>>()),
  timeout: z.optional(timeout),
  onRetry: z.optional(functionOf<NonNullable<PetStoreClientOptions['onRetry']>>()),
  retry: z.optional(
    z.union([z.literal(false), retryOptions], expecting('false or { maxElapsed, maxRetries, baseDelay, maxDelay }')),
  ),
})

/** Calls the global `fetch`, which is read at each request, because tests replace it. */
async function globalFetch(url: string, init: RequestInit): Promise<Response> {
  // Without this error, the client would take the missing function for a network fault, and try
  // again for two minutes.
  if (typeof globalThis.fetch !== 'function') throw new PetStoreError('internal_error', NO_FETCH)
  return globalThis.fetch(url, init)
}

const NO_FETCH =
  'This environment has no global fetch: pass the option fetch of the client. In Jest, use the environment jest-fixed-jsdom in place ' +
  'of jsdom.'

/**
 * Checks the options of the client and fills in the defaults.
 * @throws {PetStoreError} `invalid_option`
 */
export function resolveClientOptions(given: PetStoreClientOptions, seams: ClientSeams) {
  const parsed = clientOptions.safeParse(given)
  if (!parsed.success) throw optionsError(parsed.error)
  const options = parsed.data
  const { baseUrl, apiKey } = options
  const retry: RetryOptions = options.retry === false ? { maxElapsed: 0, maxRetries: 0 } : (options.retry ?? {})
  const { maxElapsed = 120_000, maxRetries = Number.POSITIVE_INFINITY, baseDelay = 500, maxDelay = 10_000 } = retry
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
