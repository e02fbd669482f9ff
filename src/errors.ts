/** Every error that a client can be sent: its status, and what it means in one sentence. */
export const errorTable = {
  invalid_parameter: { status: 400, message: 'A query parameter is not valid.' },
  malformed_json: { status: 400, message: 'The body cannot be read as JSON.' },
  invalid_body: { status: 400, message: 'The body is not a valid animal.' },
  incomplete_body: { status: 400, message: 'The body ended before it was complete.' },
  missing_api_key: { status: 401, message: 'An API key is required: send "Authorization: Bearer <API_KEY>".' },
  invalid_api_key: { status: 401, message: 'The API key is not valid: it is unknown, mistyped, expired or revoked.' },
  route_not_found: { status: 404, message: 'There is nothing at this path.' },
  pet_not_found: { status: 404, message: 'The animal could not be found.' },
  method_not_allowed: { status: 405, message: 'This path does not take this method.' },
  operation_removed: { status: 410, message: 'This operation was removed on 5 December 2030: use GET /pets instead.' },
  payload_too_large: { status: 413, message: 'The body is too large.' },
  unsupported_media_type: { status: 415, message: 'The body must be application/json in UTF-8.' },
  rate_limit_exceeded: { status: 429, message: 'Too many requests.' },
  api_key_banned: { status: 429, message: 'The API key is banned for a time, for going on over its limit.' },
  body_already_read: {
    status: 500,
    message:
      'The body was read before the pet store could read it: ' +
      'mount the pet store ahead of what reads bodies, or keep request.rawBody.',
  },
  internal_error: { status: 500, message: 'The service failed to answer this request.' },
  service_unavailable: { status: 503, message: 'The service cannot answer right now.' },
} as const satisfies Record<string, { status: number; message: string }>

/** A code that stands in the `code` member of an error response. */
export type ErrorCode = keyof typeof errorTable

/** The code of a {@link PetStoreError}: one of the wire's, or `invalid_option`, which only a caller in TypeScript meets. */
export type PetStoreErrorCode = ErrorCode | 'invalid_option'

/**
 * The one error class of this package. Tell errors apart by `code`.
 *
 * @example
 * ```ts
 * import { PetStoreError } from 'petstore-kit'
 *
 * const storage = {
 *   list() {
 *     throw new PetStoreError('service_unavailable', 'the catalogue is being moved')
 *   },
 * }
 * ```
 */
export class PetStoreError extends Error {
  /** By which the errors of several copies of this package know each other. */
  override readonly name = 'PetStoreError'
  /** What went wrong, for a `switch`. */
  readonly code: PetStoreErrorCode
  /** The HTTP status that goes with the code. */
  readonly status: number

  constructor(code: PetStoreErrorCode, message?: string, options?: { readonly cause?: unknown }) {
    const entry = code === 'invalid_option' ? undefined : errorTable[code]
    super(message ?? entry?.message ?? code, options)
    this.code = code
    this.status = entry?.status ?? 500
  }
}

/** True for a {@link PetStoreError}, also one of another copy of this package (ESM beside CommonJS). */
export function isPetStoreError(error: unknown): error is PetStoreError {
  return error instanceof PetStoreError || (error instanceof Error && error.name === 'PetStoreError' && 'code' in error)
}

/** What a port has thrown that means nothing from there: our own words to a client are a fault in any other mouth. */
export class PortFault extends Error {}

/** True for a {@link PortFault}. A value may throw at whoever asks what it is. */
export function isPortFault(error: unknown): error is PortFault {
  try {
    return error instanceof PortFault
  } catch {
    return false
  }
}
