import { codeOf, isTokenRejection, PetStoreError, PortFault } from './errors.ts'
import type { ApiKey } from './model.ts'
import type { OperationName } from './operations.ts'
import type {
  BackEnd,
  CallContext,
  ManagedKeyStore,
  MaybePromise,
  PetStorage,
  QuotaCount,
  QuotaStore,
} from './ports.ts'
import { describeValue } from './support/describe-value.ts'
import { looksLikeSeconds, withTimeout } from './support/time.ts'

/** The time limits of the calls of ports, in milliseconds. */
export interface PortTimeouts {
  readonly timeout: number
  readonly quotaTimeout: number
}

/**
 * Returns the ports with a time limit for each call, and with checks of the results of `find`,
 * `spend` and `peek`. Each method is read from its port at each call, so a method that is added or
 * replaced later takes effect.
 */
export function guardPorts({ storage, keyStore, quota }: BackEnd, { timeout, quotaTimeout }: PortTimeouts): BackEnd {
  return {
    storage: guardPort<PetStorage>('storage', storage, timeout, {
      list: { contextAt: 1 },
      create: { contextAt: 2 },
      get: { contextAt: 1 },
      update: { contextAt: 3 },
      remove: { contextAt: 2 },
      restore: { contextAt: 1 },
      count: { contextAt: 1 },
    }),
    keyStore: guardPort<ManagedKeyStore>('key store', keyStore as ManagedKeyStore, timeout, {
      find: { contextAt: 1, check: checkKey, isExpected: isTokenRejection },
      issue: { contextAt: 1, isExpected: always },
      adopt: { contextAt: 2, isExpected: always },
      get: { contextAt: 1, isExpected: always },
      list: { contextAt: 1, isExpected: always },
      update: { contextAt: 2, isExpected: always },
      rotate: { contextAt: 2, isExpected: always },
      suspend: { contextAt: 1, isExpected: always },
      resume: { contextAt: 1, isExpected: always },
      revoke: { contextAt: 1, isExpected: always },
      remove: { contextAt: 1, isExpected: always },
      recordUse: { contextAt: 2, isExpected: always },
    }),
    quota: guardPort<QuotaStore>('quota store', quota, quotaTimeout, {
      spend: { contextAt: 1, check: checkCount },
      peek: { contextAt: 1, check: checkCount },
      reset: { contextAt: 1 },
    }),
  }
}

/** The host calls the methods that manage keys, and gets each error as it is. */
const always = () => true

/** How a method of a port is called. */
interface Guard<Result = unknown> {
  /** The position of the context among the parameters. */
  readonly contextAt: number
  /** Returns the result, or throws for a wrong one. */
  check?(result: Result): Result
  /** Returns whether the method may throw this `PetStoreError`. */
  isExpected?(error: unknown): boolean
}

type ResultOf<Method> = NonNullable<Method> extends (...parameters: never) => infer Result ? Awaited<Result> : never

/** A guard for each method of a port: without one, a method would have no time limit. */
type Guards<Port> = { readonly [Name in keyof Port]-?: Guard<ResultOf<Port[Name]>> }

function guardPort<Port extends object>(name: string, port: Port, timeout: number, guards: Guards<Port>): Port {
  /**
   * Returns a method that calls the one of the port with a context that has the time limit. A store in
   * memory and a cache return the value itself, which needs no timer and no promise.
   */
  function guardMethod(method: keyof Port, { contextAt, check, isExpected }: Guard) {
    const checked = (result: unknown) => (check ? check(result) : result)
    const fail = (error: unknown) => {
      throw isExpected?.(error) ? error : toPortFault(error)
    }
    return (...parameters: unknown[]): MaybePromise<unknown> => {
      const timed = new TimedContext(parameters[contextAt] as CallContext | undefined)
      parameters[contextAt] = timed
      const onTimeout = () => {
        const cause = new Error(`the ${name} did not respond within ${timeout} ms`)
        const error = new PetStoreError('service_unavailable', undefined, { cause })
        timed.limit.abort(error)
        return error
      }
      try {
        const called = Reflect.get(port, method) as (...parameters: unknown[]) => unknown
        const returned = Reflect.apply(called, port, parameters)
        return isPromise(returned)
          ? withTimeout(returned, timeout, onTimeout).then(checked).catch(fail)
          : checked(returned)
      } catch (error) {
        return fail(error)
      }
    }
  }

  const guarded = {}
  for (const method of Object.keys(guards) as (keyof Port & string)[]) {
    const guardedMethod = guardMethod(method, guards[method])
    Object.defineProperty(guarded, method, { get: () => (Reflect.get(port, method) ? guardedMethod : undefined) })
  }
  return guarded as Port
}

/**
 * The context of a call, whose signal also aborts at the time limit. A class, because an object
 * with getters takes 14 % of the CPU time of a list on PostgreSQL.
 */
class TimedContext implements CallContext {
  /**
   * Not `AbortSignal.timeout`: if read only after the limit, it would not have aborted, so a call
   * that has waited in a back end would be carried out after its 503.
   */
  readonly limit = new AbortController()
  readonly #request: CallContext | undefined
  #signal: AbortSignal | undefined

  constructor(request: CallContext | undefined) {
    this.#request = request
  }

  get clientAddress(): string | undefined {
    return this.#request?.clientAddress
  }

  get key(): ApiKey | undefined {
    return this.#request?.key
  }

  get operation(): OperationName | undefined {
    return this.#request?.operation
  }

  get signal(): AbortSignal {
    const client = this.#request?.signal
    // jsdom 20, the one of Jest 29, has no `AbortSignal.any`.
    const joins = client !== undefined && AbortSignal.any !== undefined
    this.#signal ??= joins ? AbortSignal.any([client, this.limit.signal]) : this.limit.signal
    return this.#signal
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
  return code === undefined || code === 'service_unavailable'
    ? error
    : new PortFault('a port has thrown a PetStoreError', { cause: error })
}

function checkCount(count: QuotaCount): QuotaCount {
  const { granted, now, usedInMinute, minuteEndsAt, usedInDay, dayEndsAt, bannedUntil } = count
  const sum = now + usedInMinute + minuteEndsAt + usedInDay + dayEndsAt + bannedUntil
  if (typeof granted === 'boolean' && Number.isFinite(sum)) return count
  throw wrongResult('quota store: expected a QuotaCount from spend and peek', count)
}

/**
 * Throws for an `expiresAt` in seconds: without this error, the client would get 401, and the
 * operator would not know why. Throws for an unknown `access`: with a typing error such as
 * `readonly`, the key could write.
 */
function checkKey(key: ApiKey | null | undefined): ApiKey | undefined {
  if (!key) return undefined
  if (typeof key !== 'object')
    throw wrongResult('key store: expected an ApiKey such as { id, plan } or undefined from find', key)
  const { expiresAt, access } = key
  if (expiresAt != null && !(typeof expiresAt === 'number' && !Number.isNaN(expiresAt) && !looksLikeSeconds(expiresAt)))
    throw wrongResult(EXPIRY, expiresAt)
  if (access != null && access !== 'read' && access !== 'write')
    throw wrongResult("key store: expected access of a key to be 'read', 'write' or absent", access)
  return key
}

const EXPIRY = 'key store: expected expiresAt of a key in milliseconds since the Unix epoch, such as date.getTime()'

function wrongResult(expected: string, result: unknown): TypeError {
  return new TypeError(`${expected}, got ${describeValue(result)}`)
}
