// These types are public in `petstore-kit`, too. Programs that emit declarations need them from this entry.

export { keyChanges, type NewKey, newKey } from './keys/new-key.ts'
export { hashToken, isMistyped, newKeyIds } from './keys/token.ts'
export type { ApiKey } from './model.ts'
export { hashIdempotency, type IdempotencyHashes } from './pets/idempotency.ts'
export type { KeyChanges, QuotaCount } from './ports.ts'
export { countRequest, newQuotaState, peekCount, type QuotaState } from './quota/counting-rule.ts'
export { type Around, wrapPort } from './support/wrap-port.ts'
