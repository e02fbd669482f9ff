import { PetStoreError } from '../../../src/index.ts'

/** Returns the error of an unavailable engine: the client gets 503, and the host's `onError` the cause. */
export function unavailable(cause: unknown): PetStoreError {
  return new PetStoreError('service_unavailable', undefined, { cause })
}
