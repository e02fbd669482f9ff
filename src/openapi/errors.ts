import { type ErrorCode, errorTable } from '../errors.ts'
import type { OperationName } from '../http/routes.ts'
import { type HeaderName, responseHeaders } from './headers.ts'
import { schemaRef } from './schemas.ts'

/** Error codes that only one operation returns. Every other code, also a new code, is listed for every operation. */
const onlyOf: Partial<Record<ErrorCode, OperationName>> = {
  invalid_parameter: 'listPets',
  malformed_json: 'createPet',
  invalid_body: 'createPet',
  incomplete_body: 'createPet',
  payload_too_large: 'createPet',
  unsupported_media_type: 'createPet',
  body_already_read: 'createPet',
  pet_not_found: 'getPet',
  operation_removed: 'getPet',
}

/** Additional headers of error responses, by status. */
const headersOf: Readonly<Record<number, readonly HeaderName[]>> = {
  401: ['WWW-Authenticate'],
  405: ['Allow'],
  415: ['Accept', 'Accept-Encoding'],
  429: ['Retry-After'],
  503: ['Retry-After'],
}

const codes = Object.keys(errorTable) as ErrorCode[]

/** Returns the error responses of an operation, by status. */
export function errorResponses(operation: OperationName) {
  const ofOperation = codes.filter((code) => (onlyOf[code] ?? operation) === operation)
  const statuses = [...new Set(ofOperation.map((code) => errorTable[code].status))]
  return Object.fromEntries(
    statuses.map((status) => {
      const ofStatus = ofOperation.filter((code) => errorTable[code].status === status)
      const examples = Object.fromEntries(ofStatus.map((code) => [code, { $ref: `#/components/examples/${code}` }]))
      const response = {
        description: descriptionOf(ofStatus),
        headers: responseHeaders(operation, headersOf[status]),
        content: { 'application/json': { schema: { $ref: schemaRef('Error') }, examples } },
      }
      return [status, response]
    }),
  )
}

/** Returns the messages of some error codes as Markdown. Escapes `<`, because `<API_KEY>` would be an HTML tag. */
function descriptionOf(ofStatus: readonly ErrorCode[]): string {
  const messages = ofStatus.map((code) => errorTable[code].message.replaceAll('<', '\\<'))
  return messages.length === 1 ? messages.join() : messages.map((message) => `- ${message}`).join('\n')
}

/** Returns one example for every error code, by code. */
export function errorExamples() {
  return Object.fromEntries(
    codes.map((code) => {
      const { message, status } = errorTable[code]
      return [code, { summary: code, value: { code, message, status } }]
    }),
  )
}
