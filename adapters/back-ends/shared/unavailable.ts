import { PetStoreError } from '../../../src/index.ts'

/** Returns the error for an unavailable database. The client gets 503, and `onError` gets the cause. */
export function unavailable(cause: unknown): PetStoreError {
  return new PetStoreError('service_unavailable', undefined, { cause })
}
