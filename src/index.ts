export type { Admission, Admit, AdmitOptions } from './admission.ts'
export {
  type ErrorCode,
  isPetStoreError,
  PetStoreError,
  type PetStoreErrorCode,
  type PetStoreErrorOptions,
} from './errors.ts'
export type { CorsOptions } from './http/cors.ts'
export type { SunsetPolicy } from './http/deprecation.ts'
export { type PetStoreFetch, toApiRequest } from './http/fetch.ts'
export { type ApiRequest, wrapRequest } from './http/request.ts'
export { type ApiResponse, toResponse } from './http/response.ts'
export type { KeyFilter, Keys } from './keys/host-keys.ts'
export { cachedKeyStore, type KeyCache, type KeyCacheOptions } from './keys/key-cache.ts'
export { type MemoryOptions, memory } from './memory/index.ts'
export {
  type ApiKey,
  type KeyAccess,
  type KeyState,
  type NewPet,
  type Pet,
  type PetChanges,
  type PetMembers,
  type PetStatus,
  type PlanLimits,
  petStatuses,
  type RateLimit,
  type UsageWindow,
} from './model.ts'
export type { OperationName } from './operations.ts'
export type { PetStoreOptions } from './options.ts'
export { type CompletePetStore, createPetStore, type PetStore } from './pet-store.ts'
export type {
  AddedPets,
  AddOptions,
  ConditionOptions,
  PetFilter,
  PetPageQuery,
  PetPatch,
  Pets,
} from './pets/host-pets.ts'
export type {
  AdoptOptions,
  BackEnd,
  BanRule,
  CallContext,
  ChangedPet,
  ChangeOptions,
  Clock,
  CreatedPet,
  CreateOptions,
  Idempotency,
  IssuedKey,
  IssueOptions,
  KeyChanges,
  KeyQuery,
  KeyStore,
  ManagedBackEnd,
  ManagedKeyStore,
  MaybePromise,
  PetQuery,
  PetStorage,
  QuotaCount,
  QuotaCounter,
  QuotaRequest,
  QuotaStore,
  RotateOptions,
  TimeInput,
} from './ports.ts'
export type { Usage } from './quota/usage.ts'
export type { Readiness } from './readiness.ts'
export type { CreationReport, ErrorReport, LimitReport, ResponseReport } from './reports/observers.ts'
export type { InitialPet, PetInput } from './schemas/pet.ts'
