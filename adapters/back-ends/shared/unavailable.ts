import { PetStoreError } from '../../../src/index.ts'

/** The error of an engine that cannot be reached or cannot work now: the client gets 503, the host all of the cause. */
export function unavailable(cause: unknown): PetStoreError {
  return new PetStoreError('service_unavailable', undefined, { cause })
}
