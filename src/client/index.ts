export { PetStoreError, type PetStoreErrorCode } from '../errors.ts'
export type { NewPet, Pet, PetStatus, RateLimit } from '../model.ts'
export {
  type CallOptions,
  type CreatePetOptions,
  createPetStoreClient,
  type ListPetsOptions,
  type PetPage,
  type PetStoreClient,
  type PetsOptions,
} from './client.ts'
export type { PetStoreClientOptions, RetryOptions, UpcomingRetry } from './options.ts'
export { parseJson } from './json.ts'
export { stringifyJson } from './stringify-json.ts'
