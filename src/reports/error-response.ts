import { type ErrorCode, errorTable, isPetStoreError } from '../errors.ts'
import { type ApiRequest, isAborted } from '../http/request.ts'
import { errorResponse, type OwnResponse } from '../http/response.ts'
import { type ErrorReport, type Observers, reportFault } from './observers.ts'

/** The value of `Retry-After` in a 503 response, in seconds. */
const RETRY_AFTER = '5'
/** Error codes of Node and of undici, its HTTP client, for connections that cannot be opened or are lost. */
const UNREACHABLE_CODE = /^(?:E(?:CONN\w+|(?:HOST|NET)UNREACH|NOTFOUND|AI_AGAIN|PIPE|TIMEDOUT)|UND_ERR_\w+)$/
/** Messages of `fetch` errors without a code: undici reports a response that broke off, Node and Deno a failed connection. */
const UNREACHABLE_MESSAGE = /^(?:terminated|fetch failed|error sending request\b.*)$/
/** The name of the error with which `AbortSignal.timeout` aborts. */
const TIMEOUT_NAME = 'TimeoutError'

/** Returns the response to a request whose handling threw. Reports a 500 or 503 to `onError`; the client never sees its cause. */
export function errorResponseOf(
  error: unknown,
  observers: Observers,
  request: ApiRequest,
  report: ErrorReport,
): OwnResponse {
  const code = codeOf(error)
  const { status } = errorTable[code]
  if (status < 500) return errorResponse(code, [], (error as Error).message)
  // A back end that uses the signal throws when the client disconnects. Such an error is not reported.
  if (!isAborted(request)) reportFault(error, observers, report)
  return errorResponse(code, status === 503 ? ['Retry-After', RETRY_AFTER] : [])
}

/** Returns the error code of the response. Reading a member of `error` may throw; the code is then `internal_error`. */
function codeOf(error: unknown): ErrorCode {
  try {
    if (isPetStoreError(error) && Object.hasOwn(errorTable, error.code)) return error.code as ErrorCode
    if (isUnreachable(error)) return 'service_unavailable'
  } catch {}
  return 'internal_error'
}

/** Returns whether an error, or one of its causes, means that a back end cannot be reached. */
function isUnreachable(error: unknown, seen: Set<unknown> = new Set()): boolean {
  // `seen` ends the recursion if the causes form a cycle.
  if (typeof error !== 'object' || error === null || seen.has(error)) return false
  seen.add(error)
  const { code, name, message, cause, errors } = error as Record<string, unknown>
  if (UNREACHABLE_CODE.test(String(code)) || UNREACHABLE_MESSAGE.test(String(message))) return true
  return name === TIMEOUT_NAME || [cause, errors].flat().some((inner) => isUnreachable(inner, seen))
}
