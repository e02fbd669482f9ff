import { errorTable, isTokenRejection, type TokenRejection } from '../errors.ts'
import type { ApiRequest } from '../http/request.ts'
import { type OwnResponse, responseOf } from '../http/response.ts'
import type { ApiKey, KeyAccess } from '../model.ts'
import type { CallContext, Clock, KeyStore } from '../ports.ts'
import { liveKey } from './key-state.ts'

/**
 * The sender of a request: the holder of a valid key, or a client without one and the reason for
 * its 401 or 403.
 */
export type Caller = { readonly key: ApiKey } | ClientWithoutKey

interface ClientWithoutKey {
  readonly key?: undefined
  readonly error: Pick<TokenRejection, 'code' | 'message' | 'status'>
  readonly challenge: string
}

const CHALLENGE = 'Bearer realm="petstore"'
const NO_CREDENTIAL: Caller = { error: errorOf('missing_api_key'), challenge: CHALLENGE }
/**
 * This challenge has no `error`, which is only for requests with a bearer token (RFC 6750, section
 * 3.1).
 */
const OTHER_SCHEME: Caller = { error: errorOf('invalid_api_key'), challenge: CHALLENGE }
const TOKEN_CHALLENGE = `${CHALLENGE}, error="invalid_token"`
const INVALID_TOKEN: ClientWithoutKey = { error: errorOf('invalid_api_key'), challenge: TOKEN_CHALLENGE }

/** The sender of a bearer token that is no token68. The key store is not asked. */
export const MALFORMED_TOKEN: Caller = { ...INVALID_TOKEN }

function errorOf(code: 'missing_api_key' | 'invalid_api_key') {
  return { code, ...errorTable[code] }
}

const SCHEME = /^bearer(?: |$)/i
/**
 * The number of spaces is limited, because V8 keeps the whole header in memory as long as its token
 * is cached.
 */
const BEARER = /^bearer {1,64}/i

export async function authenticate(
  request: ApiRequest,
  keyStore: KeyStore,
  clock: Clock,
  call: CallContext,
): Promise<Caller> {
  const header = request.header('authorization')
  if (header === undefined) return NO_CREDENTIAL
  const token = tokenOf(header)
  if (token === undefined) return SCHEME.test(header) ? INVALID_TOKEN : OTHER_SCHEME
  if (!isToken68(token)) return MALFORMED_TOKEN
  try {
    // A key store of the host may return a key that has expired.
    const key = liveKey(await keyStore.find(token, call), clock.now())
    return key ? { key } : INVALID_TOKEN
  } catch (error) {
    if (isTokenRejection(error)) return { error, challenge: TOKEN_CHALLENGE }
    throw error
  }
}

/** Returns the token after the scheme. Two `Authorization` headers have none: they arrive joined by a comma. */
export function tokenOf(header: string): string | undefined {
  const [before] = BEARER.exec(header) ?? []
  const token = before === undefined ? '' : header.slice(before.length)
  return token === '' || token.includes(',') ? undefined : token
}

/** Returns a 401 response with a challenge (RFC 9110, section 11.6.1), or a 403 without one. */
export function unauthorized({ error, challenge }: ClientWithoutKey): OwnResponse {
  return responseOf(error, error.status === 401 ? ['WWW-Authenticate', challenge] : [])
}

/** Returns whether a key suffices for an operation that needs this access. */
export function permits({ access }: ApiKey, needed: KeyAccess): boolean {
  return needed === 'read' || access !== 'read'
}

/** Matches a token68 (RFC 9110, section 11.2), the form of every bearer token (RFC 6750, section 2.1). */
const TOKEN68 = /^[\w\-.~+/]+=*$/

export function isToken68(text: string): boolean {
  return TOKEN68.test(text)
}
