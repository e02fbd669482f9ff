import { describeValue } from '../support/describe-value.ts'
import type { ApiRequest } from './request.ts'
import { errorResponse, type OwnResponse } from './response.ts'

const JSON_TYPE = 'application/json'

/** Returns a 415 unless a body is JSON in UTF-8 without compression (RFC 9110, sections 8.3, 8.4 and 15.5.16). */
export function mediaTypeError(request: Pick<ApiRequest, 'header'>): OwnResponse | undefined {
  const type = request.header('content-type')
  const isJson = type !== undefined && type.length <= MAX_LENGTH && JSON_IN_UTF8.test(type)
  if (!isJson) return unsupported(['Accept', JSON_TYPE], JSON_TYPE, type)
  const coding = request.header('content-encoding')
  if (!coding || coding.toLowerCase() === 'identity') return undefined
  return unsupported(['Accept-Encoding', 'identity'], 'no Content-Encoding', coding)
}

/** The longest `Content-Type` that is accepted, in characters. */
const MAX_LENGTH = 256
/** Matches JSON in UTF-8. Empty parameters are allowed, and `;` may have spaces and tabs around it (RFC 9110, section 5.6.6). */
const JSON_IN_UTF8 = /^[ \t]*application\/json(?:[ \t]*;(?:[ \t]*charset=(?:utf-8|"utf-8"))?)*[ \t]*$/i

function unsupported(accepted: readonly string[], expected: string, received: string | undefined): OwnResponse {
  const reason = `expected ${expected}, got ${describeValue(received)}`
  return errorResponse('unsupported_media_type', accepted, `The body must be application/json in UTF-8: ${reason}.`)
}
