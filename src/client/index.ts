export { PetStoreError, type PetStoreErrorCode } from '../errors.ts'
export type { NewPet, Pet, PetStatus } from '../model.ts'
export type { RateLimit } from '../quota/rate-limit.ts'
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
export { parseJson } from './parse-json.ts'
export { stringifyJson } from './stringify-json.ts'
