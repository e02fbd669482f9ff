import { codeOf, PetStoreError, PortFault } from './errors.ts'
import type { ApiKey, NewPet } from './model.ts'
import type { BackEnd, CallContext, Idempotency, MaybePromise, QuotaCount } from './ports.ts'
import { describeValue } from './support/describe-value.ts'
import { isPending } from './support/maybe-promise.ts'
import { looksLikeSeconds, withTimeout } from './support/time.ts'

type PortCall<Input, T> = (input: Input, context?: CallContext) => MaybePromise<T>

/** The context of a port call, whose signal also aborts at the time limit. Creates this signal only if the port reads it. */
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

  /** Stops listening to the client's signal. Several requests may share this signal, which would collect listeners. */
  settle(): void {
    if (this.#controller) this.#client?.signal?.removeEventListener('abort', this)
    this.#client = undefined
  }
}

/** Returns a function that does `call`, with a time limit for its promise. `check` throws if the result is invalid. */
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

/** Wraps a `PetStoreError` of a port, because its `code` could cause a 4xx. A port may throw only `service_unavailable`. */
function toPortFault(error: unknown): unknown {
  const code = codeOf(error)
  return code === undefined || code === 'service_unavailable' ? error : new PortFault(undefined, { cause: error })
}

function checkCount(count: QuotaCount): QuotaCount {
  const { granted, now, usedInMinute, minuteEndsAt, usedInDay, dayEndsAt, bannedUntil } = count
  const sum = now + usedInMinute + minuteEndsAt + usedInDay + dayEndsAt + bannedUntil
  if (typeof granted === 'boolean' && Number.isFinite(sum)) return count
  throw wrongResult('quota store: expected a QuotaCount from spend', count)
}

/** Throws for an `expiresAt` in seconds: without this error, the client would get 401, and the operator would not know why. */
function checkKey(key: ApiKey | null | undefined): ApiKey | undefined {
  if (!key) return undefined
  if (typeof key !== 'object')
    throw wrongResult('key store: expected an ApiKey such as { id, plan } or undefined from find', key)
  const { expiresAt } = key
  if (expiresAt != null && !(typeof expiresAt === 'number' && !Number.isNaN(expiresAt) && !looksLikeSeconds(expiresAt)))
    throw wrongResult('key store: expected expiresAt of a key in milliseconds since the Unix epoch', expiresAt)
  return key
}

function wrongResult(expected: string, result: unknown): TypeError {
  return new TypeError(`${expected}, got ${describeValue(result)}`)
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
