import { PetStoreError } from '../errors.ts'
import { describe } from '../support/describe-value.ts'
import type { ApiRequest } from './request.ts'

const JSON_TYPE = 'application/json'

/**
 * Refuses a body that does not say that it is plain JSON in UTF-8 (RFC 9110, sections 8.3 and 8.4).
 *
 * @throws {PetStoreError} `unsupported_media_type`
 */
export function requireJson(request: ApiRequest): void {
  const type = request.header('content-type')
  if (type !== JSON_TYPE && !isJson(type)) throw unsupported(JSON_TYPE, type)
  const encoding = request.header('content-encoding')
  if (encoding && encoding.toLowerCase() !== 'identity') throw unsupported('no Content-Encoding', encoding)
}

/** Beyond ASCII there is white space that is none in a header (RFC 9110, section 5.6.3). */
const NO_ASCII = /[^\t -~]/

function isJson(type = ''): boolean {
  const [essence, ...parameters] = type
    .toLowerCase()
    .split(';')
    .map((part) => part.trim())
  return (
    essence === JSON_TYPE &&
    !NO_ASCII.test(type) &&
    parameters.every((parameter) => /^(?:charset=(?:utf-8|"utf-8"))?$/.test(parameter))
  )
}

function unsupported(expected: string, got: string | undefined): PetStoreError {
  return new PetStoreError(
    'unsupported_media_type',
    `The body must be application/json in UTF-8: expected ${expected}, got ${describe(got)}.`,
  )
}
