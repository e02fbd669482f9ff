import { codeOf, isPortFault, type PetStoreError, type PetStoreErrorCode } from '../errors.ts'
import { type ApiRequest, originForm, pathOf } from '../http/request.ts'
import type { OwnResponse } from '../http/response.ts'
import type { Route } from '../http/routes.ts'
import type { ApiKey, Pet, RateLimit, UsageWindow } from '../model.ts'
import type { OperationName } from '../operations.ts'
import { readableLines, readableText } from '../support/readable-text.ts'

/**
 * The request to which an error belongs. All members are `undefined` if there is none, as for an
 * error of Node's server.
 */
export interface ErrorReport {
  /** The method, as the client sent it. */
  readonly method?: string | undefined
  /** The path and query of the request. It never contains the API key. */
  readonly target?: string | undefined
  /**
   * The operation; `undefined` if the path or the method has none, or if an adapter reports the
   * error.
   */
  readonly operation?: OperationName | undefined
  /**
   * The id of the API key; `undefined` if there was no valid key, or if an adapter reports the
   * error.
   */
  readonly keyId?: string | undefined
  /** The id in `X-Request-Id` of the response. `undefined` without the option `requestId`. */
  readonly requestId?: string | undefined
}

/** A report for `onResponse`, about a response and its request. */
export interface ResponseReport {
  /** The method, as the client sent it. */
  readonly method: string
  /** The path and query of the request. It never contains the API key. */
  readonly target: string
  /** The HTTP status; 499 if the client disconnected before the response was ready. */
  readonly status: number
  /**
   * The error code in the body, such as `api_key_banned` for a ban, or a code of your own with which
   * your key store has rejected a token. `undefined` for a success, and for the status 499.
   */
  readonly code?: PetStoreErrorCode | undefined
  /** The operation; `undefined` if the path or the method has none. */
  readonly operation?: OperationName | undefined
  /** The id of the API key; `undefined` if there was no valid key. */
  readonly keyId?: string | undefined
  /** The id in `X-Request-Id` of the response. `undefined` without the option `requestId`. */
  readonly requestId?: string | undefined
  /** The plan of the API key. */
  readonly plan?: string | undefined
  /** The account of the API key, if it has one. */
  readonly account?: string | undefined
  /**
   * The rate limit that the headers of the response state; `undefined` for a request that was
   * rejected before it could be counted.
   */
  readonly rateLimit?: RateLimit | undefined
  /**
   * The current UTC minute of the key or client address, after this request. `undefined` for a request
   * that was not counted.
   */
  readonly minute?: UsageWindow | undefined
  /** The current UTC day, in the same way. */
  readonly day?: UsageWindow | undefined
  /**
   * Whether an earlier request with the same idempotency key has added the animal, so that this
   * request added none.
   */
  readonly replayed: boolean
  /** The client's address, if the adapter knows it. */
  readonly clientAddress?: string | undefined
  /**
   * The time from the request's arrival to its response, in milliseconds with fractions, by a clock
   * that never steps back.
   */
  readonly durationMs: number
}

/** A report for `onPetCreated`, about an animal that a client has added. */
export interface CreationReport {
  /** The animal, which is durable. */
  readonly pet: Pet
  /** The API key of the request. */
  readonly key: ApiKey
}

/** A report for `onLimit`, about a key that comes close to a limit, reaches it or is banned. */
export interface LimitReport {
  /** The API key of the request. The other keys of its account share its counts. */
  readonly key: ApiKey
  /**
   * The window of the limit: the UTC minute or the UTC day. Of a ban, the window whose refusals have
   * caused it.
   */
  readonly window: 'minute' | 'day'
  /**
   * `warned` if the share `warnAt` of the limit is used, `reached` if the whole limit is used, and
   * `banned` if requests after that have caused a ban.
   */
  readonly event: 'warned' | 'reached' | 'banned'
  /** The requests that were served in the window. */
  readonly used: number
  /** The largest number of requests in the window. */
  readonly limit: number
  /** When the window ends, or the ban, in milliseconds since the Unix epoch. */
  readonly resetsAt: number
}

/** The options that observe requests. The client still gets its response if they throw or reject. */
export interface Observers {
  readonly onError: (error: unknown, report: ErrorReport) => void
  readonly onPetCreated?: ((report: CreationReport) => void) | undefined
  readonly onLimit?: ((report: LimitReport) => void) | undefined
  readonly onResponse?: ((report: ResponseReport) => void) | undefined
}

/** The status for a client that has disconnected, as in the logs of nginx. */
const CLIENT_CLOSED_REQUEST = 499

/**
 * The longest path and the longest error that the default of `onError` prints, in UTF-16 code
 * units.
 */
export const MAX_PATH = 200
export const MAX_FAULT = 20_000
/** How many errors are printed: the error and its causes. */
const MAX_ERRORS = 5

/**
 * The default of `onError`: prints the error and the path. Omits the query, because clients put
 * tokens there by mistake.
 */
export function logError(error: unknown, { method, target = '' }: ErrorReport): void {
  const request = method === undefined ? '' : `${method} ${pathOf(originForm(target))} `
  // Pass only one argument: with several, the console would replace `%s` in the first.
  if (isNotice(error)) console.error(`petstore-kit: ${readableLines(error.message, MAX_FAULT)}`)
  else console.error(`petstore-kit: ${readableText(request, MAX_PATH)}failed: ${readableError(error)}`)
}

/** Returns whether an error is only a notice for the host, which no failure has caused. */
export function isNotice(error: unknown): error is PetStoreError {
  return ['untrusted_forwarded_for', 'malformed_token'].includes(codeOf(error) ?? '')
}

/** Returns an error and its causes as text, with tokens masked and control characters escaped. */
export function readableError(error: unknown): string {
  try {
    const texts: string[] = []
    const errors = [error]
    for (let i = 0; i < MAX_ERRORS && i < errors.length; i++) {
      const one = errors[i]
      texts.push(textOf(one))
      const { cause, errors: inner } = Object(one) as Partial<AggregateError>
      errors.push(...[cause, inner].flat().filter((next) => next !== undefined))
    }
    return readableLines(texts.join('\ncaused by '), MAX_FAULT)
  } catch {
    return 'an error that cannot be read'
  }
}

/** Returns the stack of an error, and its own members, such as `code` of Node's errors. */
function textOf(error: unknown): string {
  const { message, stack, ...others } = Object(error) as Partial<Error>
  if (typeof stack !== 'string') return String(error)
  // Some runtimes leave the message out of the stack.
  const head = stack.includes(String(message)) ? stack : `${error}\n${stack}`
  const members = Object.entries(others).filter(([name]) => !['name', 'cause', 'errors'].includes(name))
  const lines = members.map(([name, value]) => `${name}: ${Object(value) === value ? 'an object' : value}`)
  return [head, ...lines].join('\n    ')
}

/**
 * Calls `onError` with the error, or with the cause of a {@link PortFault}. If `onError` fails,
 * logs both errors.
 */
export function reportFault(error: unknown, { onError }: Observers, about: ErrorReport): void {
  const fault = isPortFault(error) ? error.cause : error
  const { method, target, operation, keyId, requestId } = about
  const path = target === undefined ? undefined : originForm(target)
  const report = { method, target: path, operation, keyId, requestId } satisfies Record<keyof ErrorReport, unknown>
  callOrLog('onError', onError, logError, fault, report)
}

/**
 * Calls a callback that gets an error, such as `onError`. If the callback throws or rejects, logs
 * both errors.
 */
export function callOrLog<Args extends readonly unknown[]>(
  name: string,
  callback: (...args: Args) => unknown,
  log: (...args: Args) => void,
  ...args: Args
): void {
  const onFailure = (failure: unknown) => {
    log(...args)
    console.error(`petstore-kit: ${name} failed: ${readableError(failure)}`)
  }
  callObserver(() => callback(...args), onFailure)
}

interface ReportedContext {
  readonly request: ApiRequest
  readonly clientAddress: string | undefined
  readonly route: Route
  readonly key: ApiKey | undefined
  readonly requestId: string | undefined
  readonly allowance: RateLimit | undefined
}

interface ResponseDetails {
  /** Whether the client has disconnected. */
  readonly isClosed: boolean
  /** In milliseconds. */
  readonly duration: number
  readonly windows: Pick<ResponseReport, 'minute' | 'day'> | undefined
}

/** Returns what a report says about a request. */
export function aboutRequest({ request: { method, target }, route, key, requestId }: ReportedContext) {
  const about = { method, target: originForm(target), operation: route.operation, keyId: key?.id, requestId }
  return about satisfies ErrorReport
}

/** Calls `onPetCreated`, and does not wait for it. Calls `onError` if `onPetCreated` throws or rejects. */
export function reportCreation(observers: Observers, context: ReportedContext, pet: Pet): void {
  const { key } = context
  if (!observers.onPetCreated || !key) return
  callObserver(
    () => observers.onPetCreated?.({ pet, key }),
    (failure) => reportFault(failure, observers, aboutRequest(context)),
  )
}

/** Calls `onLimit`, and does not wait for it. Calls `onError` if `onLimit` throws or rejects. */
export function reportLimit(observers: Observers, context: ReportedContext, report: LimitReport): void {
  callObserver(
    () => observers.onLimit?.(report),
    (failure) => reportFault(failure, observers, aboutRequest(context)),
  )
}

/** Calls `onResponse`. Calls `onError` if `onResponse` throws or rejects. */
export function reportResponse(
  observers: Observers,
  context: ReportedContext,
  { status, code, headers }: OwnResponse,
  { isClosed, duration, windows }: ResponseDetails,
): void {
  const { clientAddress, key, allowance } = context
  const report: ResponseReport = {
    ...aboutRequest(context),
    status: isClosed ? CLIENT_CLOSED_REQUEST : status,
    code: isClosed ? undefined : code,
    plan: key?.plan,
    account: key?.account ?? undefined,
    rateLimit: allowance && { limit: allowance.limit, remaining: allowance.remaining, resetsAt: allowance.resetsAt },
    minute: windows?.minute,
    day: windows?.day,
    replayed: headers.includes('Idempotency-Replayed'),
    clientAddress,
    durationMs: Math.round(duration * 1_000) / 1_000,
  }
  callObserver(
    () => observers.onResponse?.(report),
    (failure) => reportFault(failure, observers, report),
  )
}

/**
 * Calls an observer. If the observer throws or rejects, calls `onFailure`, so that the client still
 * gets its response.
 */
function callObserver(call: () => unknown, onFailure: (error: unknown) => void): void {
  try {
    Promise.resolve(call()).catch(onFailure)
  } catch (error) {
    onFailure(error)
  }
}
