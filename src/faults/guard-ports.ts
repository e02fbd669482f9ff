import { isPetStoreError, PetStoreError, PortFault } from '../errors.ts'
import type { ApiKey } from '../model.ts'
import type { BackEnd, CallContext, MaybePromise, QuotaCount, QuotaRequest } from '../ports.ts'
import { describe } from '../support/describe-value.ts'
import { andThen, isPending } from '../support/maybe-promise.ts'
import { withTimeout } from '../support/with-timeout.ts'

/** Codes of Node and undici, its HTTP client, for connections that cannot be opened or break off. */
const UNREACHABLE_CODE = /^(?:E(?:CONN\w+|(?:HOST|NET)UNREACH|NOTFOUND|AI_AGAIN|PIPE|TIMEDOUT)|UND_ERR_\w+)$/
/** Messages of errors without a code from `fetch`: of undici if a response breaks off, of Node and Deno if no connection opens. */
const UNREACHABLE_MESSAGE = /^(?:terminated|fetch failed|error sending request\b.*)$/
/** The name of the error of `AbortSignal.timeout`. */
const TIMEOUT_NAME = 'TimeoutError'

/** Returns whether an error, or a cause of it, says that a back end cannot be reached. */
export function isUnreachable(error: unknown, seen: Set<unknown> = new Set()): boolean {
  // Causes may form a cycle.
  if (typeof error !== 'object' || error === null || seen.has(error)) return false
  seen.add(error)
  const { code, name, message, cause, errors } = error as Record<string, unknown>
  if (typeof code === 'string' && UNREACHABLE_CODE.test(code)) return true
  if (name === TIMEOUT_NAME || (typeof message === 'string' && UNREACHABLE_MESSAGE.test(message))) return true
  return [cause, ...(Array.isArray(errors) ? errors : [])].some((inner) => isUnreachable(inner, seen))
}

type PortCall<Input, T> = (input: Input, context?: CallContext) => MaybePromise<T>

/** The context of a call with a time limit. Its signal also aborts when the limit is reached. It is made when a port reads it. */
class TimedContext implements CallContext {
  readonly #context: CallContext | undefined
  #timeout: AbortController | undefined
  #signal: AbortSignal | undefined

  constructor(context: CallContext | undefined) {
    this.#context = context
  }

  get clientAddress(): string | undefined {
    return this.#context?.clientAddress
  }

  get signal(): AbortSignal {
    this.#timeout ??= new AbortController()
    const { signal } = this.#timeout
    const left = this.#context?.signal
    this.#signal ??= left ? AbortSignal.any([left, signal]) : signal
    return this.#signal
  }

  abort(reason: unknown): void {
    this.#timeout ??= new AbortController()
    this.#timeout.abort(reason)
  }
}

/** Limits the time of a call. A call that returns a value at once costs no timer. */
function guard<Input, T>(port: string, timeout: number, call: PortCall<Input, T>): PortCall<Input, T> {
  return (input, context) => {
    try {
      const timed = new TimedContext(context)
      const value = call(input, timed)
      if (!isPending(value)) return value
      const onTimeout = () => {
        const cause = new Error(`the ${port} did not respond within ${timeout} ms`)
        const error = new PetStoreError('service_unavailable', undefined, { cause })
        timed.abort(error)
        return error
      }
      return withTimeout(value, timeout, onTimeout).catch((error) => {
        throw toPortFault(error)
      })
    } catch (error) {
      throw toPortFault(error)
    }
  }
}

/** The only error of this package that a port may throw is `service_unavailable`. Any other code is a fault of the port. */
function toPortFault(error: unknown): unknown {
  try {
    if (isPetStoreError(error) && error.code !== 'service_unavailable')
      return new PortFault(undefined, { cause: error })
  } catch {}
  return error
}

function checkCount(count: QuotaCount): QuotaCount {
  const { granted, now, usedInMinute, minuteEndsAt, usedInDay, dayEndsAt, bannedUntil } = count
  if (
    typeof granted === 'boolean' &&
    Number.isFinite(now + usedInMinute + minuteEndsAt + usedInDay + dayEndsAt + bannedUntil)
  )
    return count
  throw new TypeError(`quota store: expected a QuotaCount from spend, got ${describe(count)}`)
}

/** A key store in plain JavaScript may return `true` or a name. `false` and `null` mean that there is no key. */
function checkKey(key: ApiKey | null | undefined): ApiKey | undefined {
  if (!key) return undefined
  if (typeof key === 'object') return key
  throw new TypeError(`key store: expected an ApiKey such as { id, plan } or undefined from find, got ${describe(key)}`)
}

/**
 * Puts guards around the ports: a time limit for each call, and checks of what key store and quota store return.
 *
 * @param timeouts - time limits in milliseconds
 */
export function guardPorts(
  { storage, keyStore, quota }: BackEnd,
  { timeout, quotaTimeout }: { readonly timeout: number; readonly quotaTimeout: number },
): BackEnd {
  const find = guard('key store', timeout, (token: string, context) => keyStore.find(token, context))
  const spend = guard('quota store', quotaTimeout, (request: QuotaRequest, context) => quota.spend(request, context))
  return {
    storage: {
      list: guard('storage', timeout, (query, context) => storage.list(query, context)),
      create: guard('storage', timeout, (pet, context) => storage.create(pet, context)),
      get: guard('storage', timeout, (id, context) => storage.get(id, context)),
    },
    keyStore: { find: (token, context) => andThen(find(token, context), checkKey) },
    quota: { spend: (request) => andThen(spend(request), checkCount) },
  }
}
