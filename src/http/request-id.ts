import { hexOf } from '../support/hex-digest.ts'
import type { ApiRequest } from './request.ts'
import type { ApiResponse } from './response.ts'

export const REQUEST_ID_HEADER = 'X-Request-Id'

/** An id that is safe in headers, logs and shells. */
export const REQUEST_ID = /^[\w\-.:+/=~]{1,128}$/

/** Returns the id that the client has sent, or a new one. */
export function requestIdOf(request: ApiRequest | undefined): string {
  const sent = sentHeader(request)
  return sent !== undefined && REQUEST_ID.test(sent) ? sent : newUuid()
}

/** Returns the id in the headers of a response; `undefined` without the option `requestId`. */
export function requestIdIn({ headers }: ApiResponse): string | undefined {
  const index = headers.indexOf(REQUEST_ID_HEADER)
  return index === -1 ? undefined : headers[index + 1]
}

/** Returns the id in the headers of a response from a server; `undefined` without a valid one. */
export function readRequestId(headers: Pick<Headers, 'get'>): string | undefined {
  const id = headers.get(REQUEST_ID_HEADER)
  return id !== null && REQUEST_ID.test(id) ? id : undefined
}

/** The headers of a host may throw. The request then gets an error, which needs an id too. */
function sentHeader(request: ApiRequest | undefined): string | undefined {
  try {
    return request?.header(REQUEST_ID_HEADER.toLowerCase())
  } catch {
    return undefined
  }
}

/** Returns a random UUID. jsdom and web pages without HTTPS have no `randomUUID`. */
function newUuid(): string {
  if (crypto.randomUUID) return crypto.randomUUID()
  const hex = hexOf(crypto.getRandomValues(new Uint8Array(16)))
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})/, '$1-$2-4$3-8$4-')
}
