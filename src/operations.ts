import type { ErrorCode } from './errors.ts'
import type { KeyAccess } from './model.ts'

/** One operation of the API: a row of {@link operations}. */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** The path below the base path, with parameters as in OpenAPI: `/pets/{petId}`. */
  readonly path: `/${string}`
  /** The access that a key needs. If `write`, a key that may only read gets 403. */
  readonly access: KeyAccess
  /** Its own error codes. {@link errorCodesOf} returns all. */
  readonly errorCodes: readonly ErrorCode[]
  /**
   * Whether a client may repeat a request that the service may have carried out already. If false,
   * only with an idempotency key.
   */
  readonly isRepeatable: boolean
  readonly deprecation?: Deprecation
}

/** The end of an operation. Times are in milliseconds since the Unix epoch. */
export interface Deprecation {
  readonly deprecatedAt: number
  readonly removedAt: number
  /** The path to GET instead of the operation. */
  readonly successor: string
}

/**
 * Every operation by its name. Routes, `Allow`, the paths of the OpenAPI document, reports, faults
 * and the client's rule for repeats come from this table. The handlers are in `pet-store.ts`: if
 * they were here, the client would contain them.
 */
const table = {
  listPets: {
    method: 'GET',
    path: '/pets',
    access: 'read',
    errorCodes: ['invalid_parameter'],
    isRepeatable: true,
  },
  createPet: {
    method: 'POST',
    path: '/pets',
    access: 'write',
    errorCodes: [
      'malformed_json',
      'invalid_body',
      'invalid_idempotency_key',
      'idempotency_key_reused',
      'incomplete_body',
      'payload_too_large',
      'unsupported_media_type',
      'body_already_read',
    ],
    isRepeatable: false,
  },
  getPet: {
    method: 'GET',
    path: '/pets/{petId}',
    access: 'read',
    errorCodes: ['pet_not_found', 'operation_removed'],
    isRepeatable: true,
    deprecation: {
      deprecatedAt: Date.UTC(2025, 11, 5),
      removedAt: Date.UTC(2030, 11, 5),
      successor: '/pets',
    },
  },
} as const satisfies Readonly<Record<string, Operation>>

/** The name of an operation, such as `listPets`. */
export type OperationName = keyof typeof table

export const operations: Readonly<Record<OperationName, Operation>> = table

export const operationNames = Object.keys(operations) as readonly OperationName[]

/** The error codes of every operation. */
const commonErrorCodes: readonly ErrorCode[] = [
  'bad_request',
  'missing_api_key',
  'invalid_api_key',
  'request_timeout',
  'expectation_failed',
  'rate_limit_exceeded',
  'api_key_banned',
  'request_header_fields_too_large',
  'internal_error',
  'service_unavailable',
]

/** The error codes of operations that write. */
const writeErrorCodes: readonly ErrorCode[] = ['read_only_key']

export function errorCodesOf(name: OperationName): readonly ErrorCode[] {
  const { access, errorCodes } = operations[name]
  return [...errorCodes, ...(access === 'write' ? writeErrorCodes : []), ...commonErrorCodes]
}

/** The error codes of requests that match no operation. */
export const unmatchedErrorCodes: readonly ErrorCode[] = ['route_not_found', 'method_not_allowed']
