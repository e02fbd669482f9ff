import type { PetStorage } from '../ports.ts'

/** Returns whether the `create` of a storage follows `context.idempotency`. */
export function isIdempotent({ create, idempotentCreate }: PetStorage): boolean {
  return idempotentCreate !== undefined && idempotentCreate === create
}

/** Returns the members of a wrapper around `storage` whose `create` passes the context on. */
export function wrappedCreate(
  storage: PetStorage,
  create: PetStorage['create'],
): Pick<PetStorage, 'create' | 'idempotentCreate'> {
  return { create, idempotentCreate: isIdempotent(storage) ? create : undefined }
}
