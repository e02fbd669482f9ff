import type { PetStore } from '../../../src/index.ts'
import { invalidOption } from '../../../src/support/option-rules.ts'

/**
 * Checks the store when a handler is created, not at the first request.
 *
 * @throws {PetStoreError} `invalid_option`, naming `petStore`
 */
export function checkPetStore(petStore: Partial<PetStore> | null | undefined): void {
  if (typeof petStore?.handle !== 'function' || typeof petStore.basePath !== 'string')
    throw invalidOption('petStore', 'what createPetStore gives, with handle and basePath', petStore)
}
