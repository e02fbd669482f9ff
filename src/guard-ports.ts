import { isPetStoreError, PetStoreError, PortFault } from './errors.ts'
import type { ApiKey, NewPet } from './model.ts'
import type { BackEnd, CallContext, Idempotency, MaybePromise, QuotaCount } from './ports.ts'
import { describeValue } from './support/describe-value.ts'
import { isPending } from './support/maybe-promise.ts'
import { looksLikeSeconds, withTimeout } from './support/time.ts'

type PortCall<Input, T> = (input: Input, context?: CallContext) => MaybePromise<T>

/** The context of a port call, whose signal also aborts at the time limit. Creates this signal only if the port reads it. */
class TimedContext implements CallContext {
  readonly #context: CallContext | undefined
  #controller: AbortController | undefined
  #isSettled = false
  #stopListening: (() => void) | undefined

  constructor(context: CallContext | undefined) {
    this.#context = context
  }

  get clientAddress(): string | undefined {
    return this.#context?.clientAddress
  }

  get signal(): AbortSignal {
    this.#controller ??= this.#abortedWith(this.#context?.signal)
    return this.#controller.signal
  }

  abort(reason: unknown): void {
    this.#controller ??= new AbortController()
    this.#controller.abort(reason)
  }

  /** Removes the listener on the client's signal. Several requests may share this signal, which would collect listeners. */
  settle(): void {
    this.#isSettled = true
    this.#stopListening?.()
  }

  /** Creates a controller that aborts when `signal` aborts. On Node 20, `AbortSignal.any` takes about four times as long. */
  #abortedWith(signal: AbortSignal | undefined): AbortController {
    const controller = new AbortController()
    if (!signal) return controller
    const abort = () => controller.abort(signal.reason)
    if (signal.aborted) abort()
    else if (!this.#isSettled) {
      signal.addEventListener('abort', abort)
      this.#stopListening = () => signal.removeEventListener('abort', abort)
    }
    return controller
  }
}

/** Returns `call` with a time limit for a promise, and with `check`, which throws if the returned value is invalid. */
function guard<Input, T>(
  port: string,
  timeout: number,
  call: PortCall<Input, T>,
  check = (value: T) => value,
): PortCall<Input, T> {
  async function settled(value: Promise<T>, timed: TimedContext): Promise<T> {
    const onTimeout = () => {
      const cause = new Error(`the ${port} did not respond within ${timeout} ms`)
      const error = new PetStoreError('service_unavailable', undefined, { cause })
      timed.abort(error)
      return error
    }
    try {
      return check(await withTimeout(value, timeout, onTimeout))
    } catch (error) {
      throw toPortFault(error)
    } finally {
      timed.settle()
    }
  }

  return (input, context) => {
    const timed = new TimedContext(context)
    try {
      const value = call(input, timed)
      if (isPending(value)) return settled(value, timed)
      timed.settle()
      return check(value)
    } catch (error) {
      timed.settle()
      throw toPortFault(error)
    }
  }
}

/** Wraps a `PetStoreError` of a port, because its code could send a 4xx to the client. A port may throw `service_unavailable`. */
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
  throw new TypeError(`quota store: expected a QuotaCount from spend, got ${describeValue(count)}`)
}

/** Throws for an `expiresAt` in seconds: without this error, the client would get 401, and the operator would not know why. */
function checkKey(key: ApiKey | null | undefined): ApiKey | undefined {
  if (!key) return undefined
  if (typeof key !== 'object')
    throw new TypeError(
      `key store: expected an ApiKey such as { id, plan } or undefined from find, got ${describeValue(key)}`,
    )
  const { expiresAt } = key
  if (expiresAt == null || (typeof expiresAt === 'number' && !Number.isNaN(expiresAt) && !looksLikeSeconds(expiresAt)))
    return key
  throw new TypeError(
    `key store: expected expiresAt of a key as a number of milliseconds since the Unix epoch, got ${describeValue(expiresAt)}`,
  )
}

/** Returns the ports with a time limit for each call, in milliseconds, and with checks of the results of `find` and `spend`. */
export function guardPorts(
  { storage, keyStore, quota }: BackEnd,
  { timeout, quotaTimeout }: { readonly timeout: number; readonly quotaTimeout: number },
): BackEnd {
  const guardStorage = <Input, T>(call: PortCall<Input, T>) => guard('storage', timeout, call)
  type OnceInput = readonly [NewPet, Idempotency]
  const { createOnce } = storage
  const once =
    createOnce && guardStorage(([pet, key]: OnceInput, context) => createOnce.call(storage, pet, key, context))
  return {
    storage: {
      list: guardStorage((query, context) => storage.list(query, context)),
      create: guardStorage((pet, context) => storage.create(pet, context)),
      get: guardStorage((id, context) => storage.get(id, context)),
      createOnce: once && ((pet, idempotency, context) => once([pet, idempotency], context)),
    },
    keyStore: { find: guard('key store', timeout, (token, context) => keyStore.find(token, context), checkKey) },
    quota: {
      spend: guard('quota store', quotaTimeout, (request, context) => quota.spend(request, context), checkCount),
    },
  }
}
