import { PetStoreError } from '../../../src/errors.ts'

/** The client gets 503, and `onError` gets the cause. */
export function unavailable(cause: unknown): PetStoreError {
  return new PetStoreError('service_unavailable', undefined, { cause })
}

/**
 * Returns the error for a schema that a later release has migrated, because this release may
 * misread its tables.
 */
export function laterSchema(option: string, expected: number, found: number, cause?: unknown): PetStoreError {
  const message = `option ${option}: expected a schema of version ${expected} at most, got version ${found}. A later release of petstore-kit has migrated it: use that release here, or another database`
  return new PetStoreError('invalid_option', message, { cause })
}
