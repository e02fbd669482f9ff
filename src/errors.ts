import type { Pet } from './model.ts'

/**
 * Every error code of the API, with its status and its default message. For each status, the most
 * frequent code comes first.
 */
export const errorTable = {
  invalid_body: { status: 400, message: 'The body is not a valid animal.' },
  invalid_parameter: { status: 400, message: 'A query parameter is not valid.' },
  malformed_json: { status: 400, message: 'The body cannot be read as JSON.' },
  invalid_idempotency_key: { status: 400, message: 'The header Idempotency-Key is not valid.' },
  incomplete_body: { status: 400, message: 'The body ended before it was complete.' },
  bad_request: { status: 400, message: 'The request is not valid HTTP.' },
  missing_api_key: { status: 401, message: 'An API key is required: send "Authorization: Bearer <API_KEY>".' },
  invalid_api_key: {
    status: 401,
    message:
      'The API key is not valid: it is unknown, mistyped, expired, suspended or revoked, or not sent as "Authorization: Bearer <API_KEY>".',
  },
  read_only_key: { status: 403, message: 'The API key may only read: this request needs a key that may also write.' },
  pet_not_found: { status: 404, message: 'The animal could not be found.' },
  route_not_found: { status: 404, message: 'There is nothing at this path.' },
  method_not_allowed: { status: 405, message: 'This path does not support this method.' },
  request_timeout: { status: 408, message: 'The request took too long to arrive.' },
  operation_removed: { status: 410, message: 'This operation has been removed.' },
  payload_too_large: { status: 413, message: 'The body is too large.' },
  unsupported_media_type: { status: 415, message: 'The body must be application/json in UTF-8.' },
  expectation_failed: { status: 417, message: 'The only supported value of Expect is 100-continue.' },
  idempotency_key_reused: {
    status: 422,
    message:
      'This Idempotency-Key has been used for another animal within 48 hours: send each new animal with a new key.',
  },
  rate_limit_exceeded: { status: 429, message: 'Too many requests.' },
  api_key_banned: {
    status: 429,
    message: 'The API key is banned for a while, because it kept sending requests over its limit.',
  },
  request_header_fields_too_large: { status: 431, message: 'The headers of the request are too large.' },
  internal_error: { status: 500, message: 'The service failed to process this request.' },
  body_already_read: {
    status: 500,
    message:
      'The body was read before the pet store could read it: ' +
      'mount the pet store before the body parser, or keep the exact bytes for it.',
  },
  service_unavailable: { status: 503, message: 'The service is unavailable right now.' },
} as const satisfies Record<string, { status: number; message: string }>

/** A value of `code` in an error response. */
export type ErrorCode = keyof typeof errorTable

/**
 * The code of a {@link PetStoreError}: a code of the API, or one of these.
 * - `condition_failed`: an animal did not have the values of `if`, so `petStore.pets` has not changed it.
 * - `invalid_option`: an option or an argument is not valid.
 * - `key_exists`: a key has the token of `issue` already.
 * - `key_not_ended`: a key that `remove` should delete is still valid or suspended.
 * - `key_not_found`: there is no key with this id.
 * - `key_revoked`: a key that should change is revoked.
 * - `keys_not_supported`: the key store cannot do what `petStore.keys` was asked to do.
 * - `malformed_token`: a bearer token has another form than token68, so it was not looked up. `onError`
 *   gets it once.
 * - `network_error`: the client got no response.
 * - `pets_not_supported`: the storage cannot do what `petStore.pets` was asked to do.
 * - `unexpected_response`: the client got a response that the API does not describe.
 * - `untrusted_forwarded_for`: `X-Forwarded-For` or `Forwarded` has arrived, and `trustProxy` does not
 *   fit. `onError` gets it once.
 * - `usage_not_supported`: the quota store cannot show or reset the usage of a key.
 *
 * Later versions may add codes: give a `switch` a `default`.
 */
export type PetStoreErrorCode =
  | ErrorCode
  | 'invalid_option'
  | 'condition_failed'
  | 'key_exists'
  | 'key_not_ended'
  | 'key_not_found'
  | 'key_revoked'
  | 'keys_not_supported'
  | 'malformed_token'
  | 'pets_not_supported'
  | 'untrusted_forwarded_for'
  | 'usage_not_supported'
  | 'network_error'
  | 'unexpected_response'
  // Permits any string. With `string` itself, editors would no longer suggest the codes above.
  | (string & {})

/** The options of {@link PetStoreError}. */
export interface PetStoreErrorOptions {
  /** The cause of the error. */
  readonly cause?: unknown
  /** The HTTP status. @default the status that belongs to the code */
  readonly status?: number | undefined
  /** How many seconds to wait before the request is sent again. @default none */
  readonly retryAfterSeconds?: number | undefined
  /** The id of the request. @default none */
  readonly requestId?: string | undefined
}

/**
 * The error that this package throws. Its `code` says what went wrong.
 * @example
 * ```ts
 * import { PetStoreError } from 'petstore-kit'
 *
 * const storage = {
 *   list() {
 *     throw new PetStoreError('service_unavailable', 'The catalogue is being moved.')
 *   },
 * }
 * ```
 */
export class PetStoreError extends Error {
  /**
   * Marks these errors: `instanceof` does not recognize an error from another copy of this package.
   */
  override readonly name = 'PetStoreError'
  /** The kind of error, for use in a `switch`. */
  readonly code: PetStoreErrorCode
  /**
   * The HTTP status; 0 for `network_error`, and `undefined` for any other code without a response,
   * such as `invalid_option`.
   */
  readonly status: number | undefined
  /**
   * How many seconds to wait before the request is sent again, from the `Retry-After` header. Only
   * the client sets this.
   */
  declare readonly retryAfterSeconds?: number
  /**
   * The id in the header `X-Request-Id` of the response, by which the operator of the service finds the
   * request. Only the client sets this.
   */
  declare readonly requestId?: string
  /**
   * The idempotency key of a failed `createPet`. Send the animal again with this key to add it
   * once. Only the client sets this.
   */
  declare readonly idempotencyKey?: string
  /** The animal as it is. Only an error with the code `condition_failed` has it. */
  declare readonly pet?: Pet

  constructor(code: PetStoreErrorCode, message?: string, options?: PetStoreErrorOptions) {
    const entry = isErrorCode(code) ? errorTable[code] : undefined
    super(message ?? entry?.message ?? code, options)
    this.code = code
    this.status = options?.status ?? entry?.status
    if (options?.retryAfterSeconds !== undefined) this.retryAfterSeconds = options.retryAfterSeconds
    if (options?.requestId !== undefined) this.requestId = options.requestId
  }
}

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(errorTable, value)
}

/**
 * Returns whether a value is a {@link PetStoreError}, from this copy of the package or another one, such
 * as its CommonJS build. `instanceof` knows only those of its own copy.
 * @example
 * ```ts
 * import { createPetStore, isPetStoreError } from 'petstore-kit'
 *
 * const { pets } = createPetStore()
 * try {
 *   await pets.update(7n, { status: 'sold' })
 * } catch (error) {
 *   if (!isPetStoreError(error)) throw error
 *   console.log(error.code) // pet_not_found
 * }
 * ```
 */
export function isPetStoreError(error: unknown): error is PetStoreError {
  return error instanceof PetStoreError || (error instanceof Error && error.name === 'PetStoreError' && 'code' in error)
}

/**
 * Returns the code of a `PetStoreError`, or `undefined` for any other value. Reading the members of
 * some objects throws.
 */
export function codeOf(error: unknown): PetStoreErrorCode | undefined {
  try {
    return isPetStoreError(error) ? error.code : undefined
  } catch {
    return undefined
  }
}

/** The error with which a key store rejects a token. */
export type TokenRejection = PetStoreError & { readonly status: 401 | 403 }

/**
 * Returns whether a key store rejects a token with this error: a `PetStoreError` with the status 401
 * or 403, and a code of its own or one of this status.
 */
export function isTokenRejection(error: unknown): error is TokenRejection {
  const code = codeOf(error)
  if (code === undefined) return false
  const { status } = error as PetStoreError
  const isOwnCode = !isErrorCode(code) || errorTable[code].status === status
  return (status === 401 || status === 403) && isOwnCode
}

/**
 * Wraps a `PetStoreError` that a port must not throw: an `invalid_body` from a port would otherwise
 * send 400 to the client.
 */
export class PortFault extends Error {}

/** Returns whether a value is a `PortFault`. `instanceof` throws for some proxies. */
export function isPortFault(error: unknown): error is PortFault {
  try {
    return error instanceof PortFault
  } catch {
    return false
  }
}

/** Breaks the connection instead of a response. Only a test store throws this error. */
export class BrokenConnection extends PetStoreError {
  /**
   * Marks these errors: `instanceof` does not recognize an error from another copy of this package.
   */
  readonly breaksConnection = true
}

export function isBrokenConnection(error: unknown): error is BrokenConnection {
  return error instanceof Error && 'breaksConnection' in error
}
