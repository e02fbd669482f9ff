import { type ErrorCode, errorTable, isPetStoreError, PetStoreError } from './errors.ts'
import type { ApiRequest, ApiResponse } from './exchange.ts'
import { isPending } from './maybe-promise.ts'
import type { BackEnd, MaybePromise } from './ports.ts'
import { errorReply } from './reply.ts'
import { type Observers, reportFault } from './report.ts'

/** The codes of connections that could not be made, or broke. */
const UNREACHABLE = /^E(?:CONN\w+|(?:HOST|NET)UNREACH|NOTFOUND|AI_AGAIN|PIPE|TIMEDOUT)$/

const RETRY_AFTER_SECONDS = '5'

/** Codes that belong to answers of the core itself: thrown by a back end, they are a fault like any other. */
const OWN_STATUSES = [401, 404, 405, 410, 429]

/** Answers a request whose handling threw. Of a fault the client learns no more than that it happened. */
export function faultReply(error: unknown, observers: Observers, request: ApiRequest): ApiResponse {
  const code = codeOf(error)
  const { status } = errorTable[code]
  if (status < 500) return errorReply(code, [], (error as Error).message)
  reportFault(error, observers, request)
  return errorReply(code, status === 503 ? ['Retry-After', RETRY_AFTER_SECONDS] : [])
}

function codeOf(error: unknown): ErrorCode {
  const entry = isPetStoreError(error) && Object.hasOwn(errorTable, error.code) && (error.code as ErrorCode)
  if (entry) return OWN_STATUSES.includes(errorTable[entry].status) ? 'internal_error' : entry
  return isUnreachable(error, new Set()) ? 'service_unavailable' : 'internal_error'
}

/** Looks through causes and their likes, each once: they may name one another. */
function isUnreachable(error: unknown, seen: Set<unknown>): boolean {
  if (typeof error !== 'object' || error === null || seen.has(error)) return false
  seen.add(error)
  const { code, cause, errors } = error as { code?: unknown; cause?: unknown; errors?: unknown }
  if (typeof code === 'string' && UNREACHABLE.test(code)) return true
  return [cause, ...(Array.isArray(errors) ? errors : [])].some((inner) => isUnreachable(inner, seen))
}

/** Waits for a port, but no longer than `timeout` milliseconds. What answers at once costs no timer. */
function within<T>(value: MaybePromise<T>, timeout: number, port: string): MaybePromise<T> {
  return isPending(value) ? race(value, timeout, port) : value
}

function race<T>(promise: Promise<T>, timeout: number, port: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      const cause = new Error(`the ${port} did not answer within ${timeout} ms`)
      reject(new PetStoreError('service_unavailable', undefined, { cause }))
    }, timeout)
    Promise.resolve(promise)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer))
  })
}

/** The ports of a back end, each call bounded in time. */
export function withTimeout({ storage, keyStore, quota }: BackEnd, timeout: number): BackEnd {
  return {
    storage: {
      list: (query, context) => within(storage.list(query, context), timeout, 'storage'),
      create: (pet, context) => within(storage.create(pet, context), timeout, 'storage'),
      get: (id, context) => within(storage.get(id, context), timeout, 'storage'),
    },
    keyStore: { find: (token, context) => within(keyStore.find(token, context), timeout, 'key store') },
    quota: { spend: (request) => within(quota.spend(request), timeout, 'quota store') },
  }
}
