import type { ApiRequest } from '../http/request.ts'
import type { ApiResponse } from '../http/response.ts'
import { errorReply } from '../http/response.ts'
import type { ApiKey } from '../model.ts'
import type { Clock, KeyStore, MaybePromise } from '../ports.ts'
import { andThen } from '../support/maybe-promise.ts'
import { ownText } from '../support/own-text.ts'

/** Who a request comes from: the holder of a live key, or a stranger and what was wrong with the credential. */
export type Caller = { readonly key: ApiKey } | { readonly key?: undefined; readonly refusal: Refusal }

type Refusal = 'missing_api_key' | 'invalid_api_key'

const MISSING: Caller = { refusal: 'missing_api_key' }
const INVALID: Caller = { refusal: 'invalid_api_key' }

/** The credential of RFC 6750, section 2.1: the scheme, spaces, and one token68. Two headers come joined by a comma. */
const BEARER = /^[Bb][Ee][Aa][Rr][Ee][Rr] +[\w\-.~+/]+=*$/

/** Tells who a request comes from. */
export function authenticate(request: ApiRequest, keyStore: KeyStore, clock: Clock): MaybePromise<Caller> {
  const header = request.header('authorization')
  if (header === undefined) return MISSING
  if (!BEARER.test(header)) return INVALID
  const token = tokenOf(header)
  return andThen(keyStore.find(token, request), (key) => (key && isLive(key, clock) ? { key } : INVALID))
}

/** A key store may remember it: of a header that is mostly spaces, no more than the token then. */
function tokenOf(header: string): string {
  const start = header.lastIndexOf(' ') + 1
  const token = header.slice(start)
  return start > 'Bearer '.length ? ownText(token) : token
}

/**
 * A store may answer from a cache, so the times on the key are held against the clock here as well. A database's row may
 * say `null` for what it has not.
 */
function isLive(key: ApiKey, clock: Clock): boolean {
  return key.revokedAt == null && (key.expiresAt == null || key.expiresAt > clock.now())
}

/** Answers a stranger: 401, with the challenge of RFC 9110, section 11.6.1. */
export function unauthorized(refusal: Refusal): ApiResponse {
  const error = refusal === 'invalid_api_key' ? ', error="invalid_token"' : ''
  return errorReply(refusal, ['WWW-Authenticate', `Bearer realm="petstore"${error}`])
}
