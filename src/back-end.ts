/** Functions for authors of back ends. */
export { keyChanges, type NewKey, newKey } from './keys/new-key.ts'
export { hashToken, isToken } from './keys/token.ts'
export { hashIdempotency, type IdempotencyHashes } from './pets/idempotency.ts'
export { countRequest, newQuotaState, type QuotaState } from './quota/fixed-windows.ts'
export { type Around, wrapPort } from './support/wrap-port.ts'
