import type { AdmitPlainRequest } from '../admission.ts'
import type { ErrorCode } from '../errors.ts'
import type { ApiRequest } from '../http/request.ts'
import { type ApiResponse, errorResponse } from '../http/response.ts'
import { type ErrorReport, logError } from './observers.ts'

/** The functions of a store that only adapters call, so the public types do not show them. None throws. */
export interface AdapterFunctions {
  /** Admits a request for a guard. `undefined` for a wrapper that is no copy of a store. */
  readonly admit: AdmitPlainRequest | undefined
  /** Calls `onError` for an error of the adapter, such as a failed write. */
  readonly reportError: (error: unknown, report: ErrorReport) => void
  /**
   * Returns an error response with the headers of every response, for a request that `handle` has
   * not answered. Its rate limit is that of an anonymous client that has sent nothing.
   */
  readonly errorResponse: (code: ErrorCode, request: ApiRequest | undefined) => ApiResponse
  /** Returns the same for a request that is not valid HTTP, and calls `onResponse`. */
  readonly rejectRequest: (code: ErrorCode, clientAddress: string | undefined) => ApiResponse
}

/**
 * `Symbol.for`, because store and adapter may belong to different copies of this package, such as
 * its CommonJS build.
 */
const KEY = Symbol.for('petstore-kit.adapterFunctions')

/** Returns a store with these functions. A copy of it, such as `{ ...petStore, handle }`, has them too. */
export function withAdapterFunctions<Store extends object>(petStore: Store, functions: AdapterFunctions): Store {
  return { ...petStore, [KEY]: functions }
}

/** Returns the functions of a store. A wrapper that is no copy of a store has none: then errors go to the console. */
export function adapterFunctionsOf(petStore: object): AdapterFunctions {
  return (petStore as { readonly [KEY]?: AdapterFunctions })[KEY] ?? withoutStore
}

/** Has no rate-limit headers, because only the store knows the limits. */
const plainResponse = (code: ErrorCode) => errorResponse(code, ['X-Content-Type-Options', 'nosniff'])
const withoutStore: AdapterFunctions = {
  admit: undefined,
  reportError: logError,
  errorResponse: plainResponse,
  rejectRequest: plainResponse,
}
