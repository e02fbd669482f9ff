import { PetStoreError } from '../errors.ts'

/** A `Request`, and the signal of its caller. */
export interface BuiltRequest {
  readonly request: Request
  readonly signal: AbortSignal | undefined
}

/**
 * Builds a `Request` from the arguments of `fetch`, without the signal, and returns the signal beside it. In a test with jsdom,
 * `AbortController` may be of another realm than `Request`. On Node 24, the constructor of `Request` then rejects its signals.
 * @throws {PetStoreError} `internal_error` if there is no `Request`
 */
export function buildRequest(input: Request | URL | string, init?: RequestInit): BuiltRequest {
  if (typeof Request === 'undefined')
    throw new PetStoreError(
      'internal_error',
      'This environment has no Request and no Response: in Jest, use the environment jest-fixed-jsdom in place of jsdom.',
    )
  const signal = init?.signal
  // A `Request` is also a valid `init`. Its signal is of the right realm, and a copy of it would lose its getters.
  const isCopyNeeded = signal != null && !(init instanceof Request)
  const isReady = input instanceof Request && init === undefined
  const request = isReady ? input : new Request(input, isCopyNeeded ? { ...init, signal: null } : init)
  return { request, signal: signal ?? request.signal }
}
