import { type ErrorCode, errorTable, isPetStoreError, isPortFault } from '../errors.ts'
import type { ApiRequest } from '../http/request.ts'
import { originForm } from '../http/request-target.ts'
import { type ApiResponse, errorResponse } from '../http/response.ts'
import type { OperationName, Route } from '../http/routes.ts'
import type { ApiKey } from '../model.ts'
import { isUnreachable } from './guard-ports.ts'

/** The request that a report is about. */
export interface ErrorReport {
  /** The method, as the client sent it. */
  readonly method: string
  /** The request target, path and query. It never contains the API key. */
  readonly target: string
}

/** What `onResponse` gets. */
export interface ResponseReport extends ErrorReport {
  /** The HTTP status; 499 if the client disconnected before the response was ready. */
  readonly status: number
  /** The operation, if the request named one. */
  readonly operation?: OperationName | undefined
  /** The id of the key, if it was valid. */
  readonly keyId?: string | undefined
  /** The client's address, if the adapter knows it. */
  readonly clientAddress?: string | undefined
  /** The time from the request's arrival to its response, in milliseconds by the option `clock`. */
  readonly durationMs: number
}

/** The options `onError` and `onResponse`. What they throw is ignored, so that the request still gets its response. */
export interface Observers {
  readonly onError: (error: unknown, report: ErrorReport) => void
  readonly onResponse?: ((report: ResponseReport) => void) | undefined
}

/** Seconds after which a client should retry a 503. */
const RETRY_AFTER = '5'
/** nginx's status of a request whose client has disconnected. */
export const CLIENT_CLOSED_REQUEST = 499

/** Returns the response to a request whose handling threw, and reports a fault. The client never sees the cause. */
export function errorResponseOf(error: unknown, observers: Observers, request: ApiRequest): ApiResponse {
  const code = codeOf(error)
  const { status } = errorTable[code]
  if (status < 500) return errorResponse(code, [], (error as Error).message)
  // If the client disconnects, a back end that uses the signal throws. That is not a fault.
  if (!request.signal?.aborted) reportFault(error, observers, request)
  return errorResponse(code, status === 503 ? ['Retry-After', RETRY_AFTER] : [])
}

/** An error may throw when its members are read; it is then a fault like any other. */
function codeOf(error: unknown): ErrorCode {
  try {
    if (isPetStoreError(error) && Object.hasOwn(errorTable, error.code)) return error.code as ErrorCode
    if (isUnreachable(error)) return 'service_unavailable'
  } catch {}
  return 'internal_error'
}

/** The default of `onError`. */
export function logError(error: unknown, { method, target }: ErrorReport): void {
  console.error(`petstore-kit: ${method} ${target} failed:`, error)
}

function reportOf({ method, target }: ApiRequest): ErrorReport {
  return { method, target: originForm(target) }
}

/** Calls `onError`. */
export function reportFault(error: unknown, { onError }: Observers, request: ApiRequest): void {
  callQuietly(() => onError(isPortFault(error) ? error.cause : error, reportOf(request)))
}

/** The data for a report of a response. */
interface ReportedContext {
  readonly request: ApiRequest
  readonly clientAddress: string | null | undefined
  readonly route: Route
  readonly key: ApiKey | undefined
}

/** Calls `onResponse`. */
export function reportResponse(
  { onResponse }: Observers,
  { request, route, key, clientAddress }: ReportedContext,
  status: number,
  durationMs: number,
): void {
  const operation = 'allow' in route || route.kind === 'unknown' ? undefined : route.kind
  const report = { ...reportOf(request), status, operation, keyId: key?.id, durationMs }
  callQuietly(() => onResponse?.({ ...report, clientAddress: clientAddress ?? undefined }))
}

function callQuietly(call: () => unknown): void {
  try {
    Promise.resolve(call()).catch(() => {})
  } catch {
    // An observer that throws must not fail the request.
  }
}
