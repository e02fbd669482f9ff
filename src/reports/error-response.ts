import { codeOf, type ErrorCode, errorTable, isErrorCode } from '../errors.ts'
import { type ApiRequest, isAborted } from '../http/request.ts'
import { errorResponse, type OwnResponse, unavailable } from '../http/response.ts'
import { type ErrorReport, type Observers, reportFault } from './observers.ts'

/**
 * Error codes for a connection that cannot be opened or is lost, from Node and from undici, the
 * HTTP client in Node.
 */
const UNREACHABLE_CODE = /^(?:E(?:CONN\w+|(?:HOST|NET)UNREACH|NOTFOUND|AI_AGAIN|PIPE|TIMEDOUT)|UND_ERR_\w+)$/
/**
 * Messages of `fetch` errors that have no code: for a lost connection (undici), and for any other
 * failure (Node, Deno).
 */
const UNREACHABLE_MESSAGE = /^(?:terminated|fetch failed|error sending request\b.*)$/
/** The name of the error with which `AbortSignal.timeout` aborts. */
const TIMEOUT_NAME = 'TimeoutError'

/**
 * Reports an error with status 500 or 503 to `onError`, and returns the response, which hides the
 * cause of such an error.
 */
export function reportAndRespond(
  error: unknown,
  observers: Observers,
  request: ApiRequest,
  report: ErrorReport,
): OwnResponse {
  const code = responseCodeOf(error)
  const { status } = errorTable[code]
  if (status < 500) return errorResponse(code, [], (error as Error).message)
  // Report nothing if the client has disconnected: a back end then throws the reason of the aborted
  // signal.
  if (!isAborted(request)) reportFault(error, observers, report)
  return status === 503 ? unavailable() : errorResponse(code)
}

/**
 * Returns the error code of the response. If `error` has a getter that throws, the code is
 * `internal_error`.
 */
function responseCodeOf(error: unknown): ErrorCode {
  const code = codeOf(error)
  if (isErrorCode(code)) return code
  try {
    if (isUnreachable(error)) return 'service_unavailable'
  } catch {}
  return 'internal_error'
}

/**
 * Returns whether an error or a cause means that a back end cannot be reached. `seen` ends the
 * recursion in a cycle of causes.
 */
function isUnreachable(error: unknown, seen: Set<unknown> = new Set()): boolean {
  if (typeof error !== 'object' || error === null || seen.has(error)) return false
  seen.add(error)
  const { code, name, message, cause, errors } = error as Record<string, unknown>
  if (UNREACHABLE_CODE.test(String(code)) || UNREACHABLE_MESSAGE.test(String(message))) return true
  return name === TIMEOUT_NAME || [cause, errors].flat().some((inner) => isUnreachable(inner, seen))
}
