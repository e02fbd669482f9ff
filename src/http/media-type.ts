import { describeValue } from '../support/describe-value.ts'
import type { ApiRequest } from './request.ts'
import { errorResponse, type OwnResponse } from './response.ts'

const JSON_TYPE = 'application/json'

/** Returns a 415 unless a body is JSON in UTF-8 without compression (RFC 9110, sections 8.3, 8.4 and 15.5.16). */
export function mediaTypeError(request: Pick<ApiRequest, 'header'>): OwnResponse | undefined {
  const type = request.header('content-type')
  if (type !== JSON_TYPE && !isJson(type)) return unsupported(['Accept', JSON_TYPE], JSON_TYPE, type)
  const coding = request.header('content-encoding')
  if (!coding || coding.toLowerCase() === 'identity') return undefined
  return unsupported(['Accept-Encoding', 'identity'], 'no Content-Encoding', coding)
}

/** The longest `Content-Type` that is accepted, in characters. To read 15 KB of `;` would take a millisecond. */
const MAX_LENGTH = 256
/** Matches characters that `Content-Type` must not contain (RFC 9110, section 5.6.3). `trim` would hide some of them. */
const NOT_ASCII = /[^\t -~]/

function isJson(type = ''): boolean {
  if (type.length > MAX_LENGTH) return false
  const [essence, ...parameters] = type
    .toLowerCase()
    .split(';')
    .map((part) => part.trim())
  return (
    essence === JSON_TYPE &&
    !NOT_ASCII.test(type) &&
    parameters.every((parameter) => /^(?:charset=(?:utf-8|"utf-8"))?$/.test(parameter))
  )
}

function unsupported(accepted: readonly string[], expected: string, received: string | undefined): OwnResponse {
  const reason = `expected ${expected}, got ${describeValue(received)}`
  return errorResponse('unsupported_media_type', accepted, `The body must be application/json in UTF-8: ${reason}.`)
}
