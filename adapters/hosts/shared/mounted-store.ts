import { isAborted } from '../../../src/http/request.ts'
import { errorResponse } from '../../../src/http/response.ts'
import { type ApiRequest, type ApiResponse, type PetStore, PetStoreError } from '../../../src/index.ts'
import { logError } from '../../../src/reports/observers.ts'
import { checkOptions, invalidOption } from '../../../src/support/option-rules.ts'
import { addressReader, type TrustProxy, trustProxyRule } from './client-address.ts'

/** The options of every adapter. */
export interface HandlerOptions {
  /** Which proxies to trust for the client's address. @default false */
  readonly trustProxy?: TrustProxy | undefined
}

const UNTRUSTED =
  'a request has X-Forwarded-For, but the option trustProxy is not set, so requests without a valid key are counted by the ' +
  'address of the connection. Behind a proxy, this is one address for all clients: set trustProxy to the number of proxies or ' +
  'to their addresses. Without a proxy, set trustProxy: false. ' +
  'See https://github.com/petstore-kit/petstore-kit/blob/main/docs/behind-a-proxy.md'

/**
 * Checks a store and the options of an adapter when a handler is created, not at the first request. Returns what the handler needs
 * besides `petStore.handle`.
 *
 * @param others - the names of the adapter's other options
 * @throws {PetStoreError} `invalid_option`
 */
export function mountStore(petStore: PetStore, options: HandlerOptions, others: readonly string[] = []) {
  if (typeof petStore?.handle !== 'function' || typeof petStore.basePath !== 'string')
    throw invalidOption('petStore', 'what createPetStore gives, with handle and basePath', petStore)
  checkOptions({ trustProxy: trustProxyRule }, options, others)
  let isUndecided = options.trustProxy === undefined
  return {
    readAddress: addressReader(options.trustProxy),
    /** Reports once if a request has `X-Forwarded-For`, but nobody has decided about `trustProxy`. */
    checkProxy(request: ApiRequest): void {
      if (!isUndecided || request.header('x-forwarded-for') === undefined) return
      isUndecided = false
      report(petStore, new PetStoreError('untrusted_forwarded_for', UNTRUSTED), undefined)
    },
    /** Reports an error of the adapter, or of code that wraps the store, and returns a 500. A client that disconnects is no error. */
    fail(error: unknown, request: ApiRequest | undefined): ApiResponse {
      if (!request || !isAborted(request)) report(petStore, error, request)
      return errorResponse('internal_error')
    },
  }
}

/** Passes an error to `onError`, or to the console if code that wraps the store has left `reportError` out. */
export function report(petStore: PetStore, error: unknown, request: ApiRequest | undefined): void {
  const about = { method: request?.method, target: request?.target }
  if (petStore.reportError) petStore.reportError(error, about)
  else logError(error, about)
}
