import { isPortFault } from '../errors.ts'
import type { ApiRequest } from '../http/request.ts'
import { originForm } from '../http/request-target.ts'
import type { OperationName, Route } from '../http/routes.ts'
import type { ApiKey } from '../model.ts'

/** What is told of a fault beside the error itself. */
export interface ErrorReport {
  /** The request's method, as it came. */
  readonly method: string
  /** The request target, path and query. The API key is no part of it. */
  readonly target: string
}

/** What is told of an answer. */
export interface ResponseReport extends ErrorReport {
  /** The HTTP status of the answer. */
  readonly status: number
  /** The operation, where the request named one. */
  readonly operation?: OperationName | undefined
  /** The id of the key, where it was a live one. */
  readonly keyId?: string | undefined
  /** The client's address, where the door knows it. */
  readonly clientAddress?: string | undefined
  /** From the request's arrival to its answer, in milliseconds by the option `clock`. */
  readonly durationMs: number
}

/** The options `onError` and `onResponse`. What they throw is lost: a request is answered all the same. */
export interface Observers {
  readonly onError?: ((error: unknown, report: ErrorReport) => void) | undefined
  readonly onResponse?: ((report: ResponseReport) => void) | undefined
}

function asked({ method, target }: ApiRequest): ErrorReport {
  return { method, target: originForm(target) }
}

/** Tells the host of a fault. */
export function reportFault(error: unknown, { onError }: Observers, request: ApiRequest): void {
  if (onError) quietly(() => onError(isPortFault(error) ? error.cause : error, asked(request)))
}

/** What an answer is reported of. */
interface Answered {
  readonly request: ApiRequest
  readonly clientAddress: string | null | undefined
  readonly route: Route
  readonly key: ApiKey | undefined
}

/** Tells the host of an answer. */
export function reportResponse(
  { onResponse }: Observers,
  answered: Answered,
  status: number,
  durationMs: number,
): void {
  const { request, route, key, clientAddress } = answered
  const operation = 'allow' in route || route.kind === 'unknown' ? undefined : route.kind
  if (onResponse)
    quietly(() =>
      onResponse({
        ...asked(request),
        status,
        operation,
        keyId: key?.id,
        clientAddress: clientAddress ?? undefined,
        durationMs,
      }),
    )
}

function quietly(call: () => unknown): void {
  try {
    Promise.resolve(call()).catch(() => {})
  } catch {
    // An observer that fails must not fail the request that it observes.
  }
}
