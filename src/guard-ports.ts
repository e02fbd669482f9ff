import { codeOf, isTokenRejection, PetStoreError, PortFault } from './errors.ts'
import type { ApiKey } from './model.ts'
import type { BackEnd, CallContext, Clock, MaybePromise, QuotaCount, QuotaCounter, QuotaRequest } from './ports.ts'
import { describeValue } from './support/describe-value.ts'
import { looksLikeSeconds, withTimeout } from './support/time.ts'

/**
 * The context of a port call, whose signal also aborts at the time limit. Creates this signal only
 * if the port reads it.
 */
class TimedContext implements CallContext {
  #client: CallContext | undefined
  #controller: AbortController | undefined

  constructor(client: CallContext | undefined) {
    this.#client = client
  }

  get clientAddress(): string | undefined {
    return this.#client?.clientAddress
  }

  /** `AbortSignal.any` is not used, because it takes about four times as long on Node 20. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      const signal = this.#client?.signal
      if (signal?.aborted) this.abort(signal.reason)
      else signal?.addEventListener('abort', this)
    }
    return this.#controller.signal
  }

  handleEvent({ target }: Event): void {
    this.abort((target as AbortSignal).reason)
  }

  abort(reason: unknown): void {
    this.#controller ??= new AbortController()
    this.#controller.abort(reason)
  }

  /**
   * Stops listening to the client's signal. Several requests may share this signal, which would
   * collect listeners.
   */
  settle(): void {
    if (this.#controller) this.#client?.signal?.removeEventListener('abort', this)
    this.#client = undefined
  }
}

/** Makes a call of a port with the context of a request, and checks the result. */
type GuardedCall = <T>(
  context: CallContext | undefined,
  call: (timed: CallContext) => MaybePromise<T>,
  check?: (value: T) => T,
) => Promise<T>

/**
 * Returns a function that makes calls of a port. Rejects a promise without a result after `timeout`
 * milliseconds.
 * @param succeed - called after a promise of the port was fulfilled. A value that is no promise may
 * come from a cache
 * @param isExpected - returns whether the port may throw this `PetStoreError`
 */
function guard(
  port: string,
  timeout: number,
  succeed: () => void,
  isExpected: (error: unknown) => boolean = () => false,
): GuardedCall {
  return async (context, call, check = (value) => value) => {
    const timed = new TimedContext(context)
    const onTimeout = () => {
      const cause = new Error(`the ${port} did not respond within ${timeout} ms`)
      const error = new PetStoreError('service_unavailable', undefined, { cause })
      timed.abort(error)
      return error
    }
    try {
      const value = call(timed)
      // A store in memory and a cache return the value itself, which needs no timer.
      if (!isPromise(value)) return check(value)
      const result = check(await withTimeout(value, timeout, onTimeout))
      succeed()
      return result
    } catch (error) {
      throw isExpected(error) ? error : toPortFault(error)
    } finally {
      timed.settle()
    }
  }
}

/**
 * Returns whether a value is a promise. A library's own kind of promise counts too: any object with
 * a method `then`.
 */
function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function'
}

/**
 * Wraps a `PetStoreError` of a port, because its `code` could cause a 4xx. A port may throw only
 * `service_unavailable`.
 */
function toPortFault(error: unknown): unknown {
  const code = codeOf(error)
  return code === undefined || code === 'service_unavailable' ? error : new PortFault(undefined, { cause: error })
}

function checkCount(count: QuotaCount): QuotaCount {
  const { granted, now, usedInMinute, minuteEndsAt, usedInDay, dayEndsAt, bannedUntil } = count
  const sum = now + usedInMinute + minuteEndsAt + usedInDay + dayEndsAt + bannedUntil
  if (typeof granted === 'boolean' && Number.isFinite(sum)) return count
  throw wrongResult('quota store: expected a QuotaCount from spend and peek', count)
}

/**
 * Throws for an `expiresAt` in seconds: without this error, the client would get 401, and the
 * operator would not know why.
 */
function checkKey(key: ApiKey | null | undefined): ApiKey | undefined {
  if (!key) return undefined
  if (typeof key !== 'object')
    throw wrongResult('key store: expected an ApiKey such as { id, plan } or undefined from find', key)
  const { expiresAt } = key
  if (expiresAt != null && !(typeof expiresAt === 'number' && !Number.isNaN(expiresAt) && !looksLikeSeconds(expiresAt)))
    throw wrongResult(EXPIRY, expiresAt)
  return key
}

const EXPIRY = 'key store: expected expiresAt of a key in milliseconds since the Unix epoch, such as date.getTime()'

function wrongResult(expected: string, result: unknown): TypeError {
  return new TypeError(`${expected}, got ${describeValue(result)}`)
}

/**
 * Returns the ports with a time limit for each call, in milliseconds, and with checks of the
 * results of `find` and `spend`. Each method is read from its port at each call, so a method that
 * is replaced later takes effect.
 */
export function guardPorts(
  { storage, keyStore, quota }: BackEnd,
  { timeout, quotaTimeout }: { readonly timeout: number; readonly quotaTimeout: number },
  clock: Clock,
): BackEnd {
  const callStorage = guard('storage', timeout, noteSuccessOf(storage, clock))
  const callKeyStore = guard('key store', timeout, noteSuccessOf(keyStore, clock), isTokenRejection)
  const callQuota = guard('quota store', quotaTimeout, noteSuccessOf(quota, clock))
  return {
    storage: {
      list: (query, context) => callStorage(context, (timed) => storage.list(query, timed)),
      create: (pet, options, context) => callStorage(context, (timed) => storage.create(pet, options, timed)),
      get: (id, context) => callStorage(context, (timed) => storage.get(id, timed)),
    },
    keyStore: {
      find: (token, context) => callKeyStore(context, (timed) => keyStore.find(token, timed), checkKey),
    },
    quota: {
      spend: (request, context) => callQuota(context, (timed) => quota.spend(request, timed), checkCount),
      get peek() {
        const { peek } = quota
        if (!peek) return undefined
        return (request: QuotaRequest, context?: CallContext) =>
          callQuota(context, (timed) => peek.call(quota, request, timed), checkCount)
      },
      get reset() {
        const { reset } = quota
        if (!reset) return undefined
        return (counter: QuotaCounter, context?: CallContext) =>
          callQuota(context, (timed) => reset.call(quota, counter, timed))
      },
    },
  }
}

/** Returns a function that notes when a call of the port has succeeded, for `readyCheck`. */
function noteSuccessOf(port: object, clock: Clock): () => void {
  const lastSuccess = lastSuccessOf(port)
  return () => {
    lastSuccess.time = clock.now()
  }
}

/** When a call of a port last succeeded. */
export interface LastSuccess {
  /** Milliseconds since the Unix epoch, by the clock of the pet store. */
  time: number
}

/**
 * The last success of each port. It is not a member of the port, because the port belongs to the
 * caller.
 */
const lastSuccesses = new WeakMap<object, LastSuccess>()

/**
 * Returns the last success of a port. The pet stores that use the port write it, and `readyCheck`
 * reads it.
 */
export function lastSuccessOf(port: object): LastSuccess {
  const known = lastSuccesses.get(port)
  if (known) return known
  const created = { time: Number.NEGATIVE_INFINITY }
  lastSuccesses.set(port, created)
  return created
}
