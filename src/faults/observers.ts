import { isPortFault } from '../errors.ts'
import type { ApiRequest } from '../http/request.ts'
import { originForm } from '../http/request-target.ts'
import type { OperationName, Route } from '../http/routes.ts'
import type { ApiKey } from '../model.ts'

/** The request to which a report belongs. */
export interface ErrorReport {
  /** The method, as the client sent it. */
  readonly method: string
  /** The path and query of the request. It never contains the API key. */
  readonly target: string
}

/** The report that `onResponse` gets. */
export interface ResponseReport extends ErrorReport {
  /** The HTTP status; 499 if the client disconnected before the response was ready. */
  readonly status: number
  /** The operation; `undefined` if the path or the method has none. */
  readonly operation?: OperationName | undefined
  /** The id of the API key; `undefined` if there was no valid key. */
  readonly keyId?: string | undefined
  /** The client's address, if the adapter knows it. */
  readonly clientAddress?: string | undefined
  /** The time from the request's arrival to its response, in milliseconds by the option `clock`. */
  readonly durationMs: number
}

/** The options `onError` and `onResponse`. Errors that they throw are ignored, so that the client still gets its response. */
export interface Observers {
  readonly onError: (error: unknown, report: ErrorReport) => void
  readonly onResponse?: ((report: ResponseReport) => void) | undefined
}

/** The status that nginx logs if the client has disconnected. */
export const CLIENT_CLOSED_REQUEST = 499

/** The default of `onError`. */
export function logError(error: unknown, { method, target }: ErrorReport): void {
  console.error(`petstore-kit: ${method} ${target} failed:`, error)
}

function reportOf({ method, target }: ApiRequest): ErrorReport {
  return { method, target: originForm(target) }
}

/** Calls `onError`. Passes the error of the port instead of a {@link PortFault}. */
export function reportFault(error: unknown, { onError }: Observers, request: ApiRequest): void {
  callQuietly(() => onError(isPortFault(error) ? error.cause : error, reportOf(request)))
}

/** The members of a request context that a {@link ResponseReport} needs. */
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
