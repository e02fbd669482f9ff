export type { CorsOptions } from './cors.ts'
export type { SunsetPolicy } from './deprecation.ts'
export { type ErrorCode, PetStoreError, type PetStoreErrorCode } from './errors.ts'
export { type ApiRequest, type ApiResponse, toApiRequest, toResponse } from './exchange.ts'
export { cached, type KeyCacheOptions } from './key-cache.ts'
export { type MemoryOptions, memory } from './memory/index.ts'
export { type ApiKey, type NewPet, type Pet, type PetStatus, type PlanLimits, petStatuses } from './model.ts'
export { type NewKey, newKey } from './new-key.ts'
export type { PetStoreOptions } from './options.ts'
export { createPetStore, type PetStore } from './pet-store.ts'
export type {
  BackEnd,
  BanRule,
  CallContext,
  Clock,
  IssuedKey,
  IssueOptions,
  KeyStore,
  ManagedKeyStore,
  MaybePromise,
  PetQuery,
  PetStorage,
  QuotaCount,
  QuotaRequest,
  QuotaStore,
} from './ports.ts'
export type { BanOptions } from './quota.ts'
export type { ErrorReport, ResponseReport } from './report.ts'
export { hashToken, isToken } from './token.ts'
export { countRequest, newQuotaState, type QuotaState } from './windows.ts'
