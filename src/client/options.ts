import { PetStoreError } from '../errors.ts'
import { isToken68 } from '../keys/authenticate.ts'
import type { Clock } from '../ports.ts'
import { describeValue } from '../support/describe-value.ts'
import { similarName } from '../support/similar-name.ts'
import { isHttpUrl, trimEndOf } from '../support/text.ts'

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
   * When to send a request again; `false` for never.
   * @default as often as needed within two minutes
   */
  readonly retry?: RetryOptions | false | undefined
  /**
   * Called once when calls begin to wait, however many calls wait, with the reason: the error of the
   * newest response, or `rate_limit_exceeded` if `attempt` is 0. If it throws or rejects, one of
   * these calls rejects with that error.
   * @default none
   */
  readonly onRetry?: ((error: PetStoreError, retry: UpcomingRetry) => void) | undefined
}

/** When the client sends a request again. */
export interface RetryOptions {
  /**
   * How long a call may take with all its waits, in milliseconds, whatever happens to the clock of
   * the machine. A call that would have to wait longer rejects immediately. Each success of any
   * call, and each 429 whose `Retry-After` is not longer than this time, starts it anew. A call that
   * has met another failure keeps the end of its time. The default is long enough to wait for the
   * next minute, but not for the end of a ban of 300 seconds.
   * @default 120000
   */
  readonly maxElapsed?: number | undefined
  /**
   * The largest number of times that a request is sent again.
   * @default as often as `maxElapsed` permits
   */
  readonly maxRetries?: number | undefined
}

/** For how long all calls of a client wait. */
export interface UpcomingRetry {
  /**
   * How many successive failures have made the calls wait. 0 if they wait because no requests
   * remain in this window.
   */
  readonly attempt: number
  /** The wait, in milliseconds. */
  readonly delay: number
}

/** Tests replace these to control the time. */
export interface ClientSeams {
  /**
   * The clock for waits and limits of time, and for dates in messages.
   * @default the system clock
   */
  readonly clock?: Clock
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
}

/** The longest delay of `setTimeout`. */
const LONGEST_DELAY = 2 ** 31 - 1

/** What an option must be. */
interface Rule {
  readonly expected: string
  readonly isValid: (value: unknown) => boolean
  /** Says in an error message what was received. @default `describeValue` */
  readonly describe?: (value: unknown) => string
}

type Rules<Options> = { readonly [Name in keyof Options]-?: Rule }

function isWholeNumber(value: unknown, minimum: number, maximum: number): boolean {
  return Number.isSafeInteger(value) && Number(value) >= minimum && Number(value) <= maximum
}

const duration: Rule = {
  expected: `a whole number of milliseconds from 1 to ${LONGEST_DELAY}`,
  isValid: (value) => isWholeNumber(value, 1, LONGEST_DELAY),
}
const callback: Rule = { expected: 'a function', isValid: (value) => typeof value === 'function' }

const clientRules: Rules<PetStoreClientOptions> = {
  baseUrl: {
    expected: 'an http or https URL such as "https://api.example/v1", without credentials, query and fragment',
    isValid: (value) => (typeof value === 'string' || value instanceof URL) && isHttpUrl(String(value)),
  },
  apiKey: {
    expected: 'the token of an API key, without white space and line breaks',
    isValid: (value) => typeof value === 'string' && isToken68(value),
    // A wrong token may still be a secret.
    describe: (value) => (typeof value === 'string' ? 'another string' : describeValue(value)),
  },
  fetch: callback,
  timeout: duration,
  retry: {
    expected: 'false or { maxElapsed, maxRetries }',
    isValid: (value) => value === false || (typeof value === 'object' && value !== null),
  },
  onRetry: callback,
}

const retryRules: Rules<RetryOptions> = {
  maxElapsed: duration,
  maxRetries: {
    expected: 'a whole number, at least 0',
    isValid: (value) => isWholeNumber(value, 0, Number.MAX_SAFE_INTEGER),
  },
}

const required: readonly string[] = ['baseUrl', 'apiKey'] satisfies (keyof PetStoreClientOptions)[]

/**
 * Checks the options of the client and fills in the defaults.
 * @throws {PetStoreError} `invalid_option`, with the name of the option
 */
export function resolveClientOptions(given: PetStoreClientOptions) {
  checkOptions(given, clientRules)
  const { baseUrl, apiKey, fetch = globalFetch, timeout = 30_000, retry = {}, onRetry } = given
  if (retry !== false) checkOptions(retry, retryRules, 'retry.')
  const { maxElapsed = 120_000, maxRetries = Number.POSITIVE_INFINITY } = retry || {}
  return {
    baseUrl: trimEndOf(String(baseUrl), '/'),
    apiKey,
    fetch,
    timeout,
    onRetry,
    /** Whether a call may wait and be sent again. */
    retries: retry !== false,
    maxElapsed,
    maxRetries,
  }
}

export type ResolvedClientOptions = ReturnType<typeof resolveClientOptions>

function checkOptions<Options extends object>(given: Options, rules: Rules<Options>, prefix = ''): void {
  if (typeof given !== 'object' || given === null)
    throw invalidOption('options', 'a plain object', describeValue(given))
  checkNames(given, Object.keys(rules), prefix)
  for (const [name, { expected, isValid, describe = describeValue }] of Object.entries<Rule>(rules)) {
    const value: unknown = given[name as keyof Options]
    const isAbsent = value === undefined && !required.includes(name)
    if (!isAbsent && !isValid(value)) throw invalidOption(prefix + name, expected, describe(value))
  }
}

/**
 * Checks that an object has no unknown members, because a mistyped option would have no effect.
 * @throws {PetStoreError} `invalid_option`, with the known names and the one that was probably meant
 */
export function checkNames(given: object, known: readonly string[], prefix = ''): void {
  for (const [name, value] of Object.entries(given)) {
    if (known.includes(name) || value === undefined) continue
    const similar = similarName(name, known)
    const hint = similar === undefined ? '' : `; did you mean ${prefix}${similar}?`
    const text = `option ${prefix}${name}: expected one of the options ${known.join(', ')}${hint}`
    throw new PetStoreError('invalid_option', text)
  }
}

/** Returns the error about a wrong option or argument. */
export function invalidOption(name: string, expected: string, received: string): PetStoreError {
  return new PetStoreError('invalid_option', `option ${name}: expected ${expected}, got ${received}`)
}

const NO_FETCH =
  'This environment has no global fetch: pass the option fetch of the client. In Jest, use the environment ' +
  'jest-fixed-jsdom in place of jsdom.'

/** Calls the global `fetch`, which is read at each request, because tests replace it. */
function globalFetch(url: string, init: RequestInit): Promise<Response> {
  // Without this error, the client would take the missing function for a network fault, and try
  // again for two minutes.
  if (typeof globalThis.fetch !== 'function') throw new PetStoreError('internal_error', NO_FETCH)
  return globalThis.fetch(url, init)
}
