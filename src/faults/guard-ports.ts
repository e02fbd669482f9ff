import { type ErrorCode, errorTable, isPetStoreError, PetStoreError, PortFault } from '../errors.ts'
import type { ApiRequest } from '../http/request.ts'
import type { ApiResponse } from '../http/response.ts'
import { errorReply } from '../http/response.ts'
import type { BackEnd, CallContext, MaybePromise, QuotaCount, QuotaRequest } from '../ports.ts'
import { describe } from '../support/describe-value.ts'
import { andThen, isPending } from '../support/maybe-promise.ts'
import { type Observers, reportFault } from './observers.ts'

/** The codes of connections that could not be made, or broke. */
const UNREACHABLE = /^E(?:CONN\w+|(?:HOST|NET)UNREACH|NOTFOUND|AI_AGAIN|PIPE|TIMEDOUT)$/

const RETRY_AFTER_SECONDS = '5'

/** Answers a request whose handling threw. Of a fault the client learns no more than that it happened. */
export function faultReply(error: unknown, observers: Observers, request: ApiRequest): ApiResponse {
  const code = codeOf(error)
  const { status } = errorTable[code]
  if (status < 500) return errorReply(code, [], (error as Error).message)
  reportFault(error, observers, request)
  return errorReply(code, status === 503 ? ['Retry-After', RETRY_AFTER_SECONDS] : [])
}

/** An error that throws at whoever looks at it is a fault like any other. */
function codeOf(error: unknown): ErrorCode {
  try {
    if (isPetStoreError(error) && Object.hasOwn(errorTable, error.code)) return error.code as ErrorCode
    if (isUnreachable(error, new Set())) return 'service_unavailable'
  } catch {}
  return 'internal_error'
}

/** Looks through causes and their likes, each once: they may name one another. */
function isUnreachable(error: unknown, seen: Set<unknown>): boolean {
  if (typeof error !== 'object' || error === null || seen.has(error)) return false
  seen.add(error)
  const { code, cause, errors } = error as { code?: unknown; cause?: unknown; errors?: unknown }
  if (typeof code === 'string' && UNREACHABLE.test(code)) return true
  return [cause, ...(Array.isArray(errors) ? errors : [])].some((inner) => isUnreachable(inner, seen))
}

type Call<Asked, T> = (asked: Asked, context?: CallContext) => MaybePromise<T>

/** Calls a port, and waits for it, but no longer than `timeout` milliseconds. What answers at once costs no timer. */
function bounded<Asked, T>(port: string, timeout: number, call: Call<Asked, T>): Call<Asked, T> {
  return (asked, context) => {
    try {
      const value = call(asked, context)
      return isPending(value) ? race(value, timeout, port) : value
    } catch (error) {
      throw ofPort(error)
    }
  }
}

function race<T>(promise: Promise<T>, timeout: number, port: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      const cause = new Error(`the ${port} did not answer within ${timeout} ms`)
      reject(new PetStoreError('service_unavailable', undefined, { cause }))
    }, timeout)
    Promise.resolve(promise)
      .then(resolve, (error) => reject(ofPort(error)))
      .finally(() => clearTimeout(timer))
  })
}

/** Of our own errors a port may throw one. The others are words of the core to a client, and a fault in any other mouth. */
function ofPort(error: unknown): unknown {
  try {
    if (isPetStoreError(error) && error.code !== 'service_unavailable')
      return new PortFault(undefined, { cause: error })
  } catch {}
  return error
}

/** A store that says nothing of use is out of order, like one that throws. */
function checkCount(count: QuotaCount): QuotaCount {
  const { granted, now, usedInMinute, minuteEndsAt, usedInDay, dayEndsAt, bannedUntil } = count
  if (
    typeof granted === 'boolean' &&
    Number.isFinite(now + usedInMinute + minuteEndsAt + usedInDay + dayEndsAt + bannedUntil)
  )
    return count
  throw new TypeError(`the quota store: expected a QuotaCount, got ${describe(count)}`)
}

/** The ports of a back end, each call bounded in time. */
export function withTimeout({ storage, keyStore, quota }: BackEnd, timeout: number): BackEnd {
  const spend = bounded('quota store', timeout, (request: QuotaRequest) => quota.spend(request))
  return {
    storage: {
      list: bounded('storage', timeout, (query, context) => storage.list(query, context)),
      create: bounded('storage', timeout, (pet, context) => storage.create(pet, context)),
      get: bounded('storage', timeout, (id, context) => storage.get(id, context)),
    },
    keyStore: { find: bounded('key store', timeout, (token, context) => keyStore.find(token, context)) },
    quota: { spend: (request) => andThen(spend(request), checkCount) },
  }
}
