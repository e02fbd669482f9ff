import { type ErrorCode, errorTable } from '../errors.ts'
import type { OperationName } from '../http/routes.ts'
import { type HeaderName, responseHeaders } from './headers.ts'
import { schemaRef } from './json-schema.ts'
import { jsonContent } from './writer.ts'

/**
 * Error codes that only one operation returns, or only requests that match no operation (`null`). Every other code, also a new
 * code, is listed for every operation.
 */
const onlyOf: Partial<Record<ErrorCode, OperationName | null>> = {
  route_not_found: null,
  method_not_allowed: null,
  invalid_parameter: 'listPets',
  malformed_json: 'createPet',
  invalid_body: 'createPet',
  invalid_idempotency_key: 'createPet',
  idempotency_not_supported: 'createPet',
  idempotency_key_reused: 'createPet',
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
  415: ['Accept', 'Accept-Encoding'],
  429: ['Retry-After'],
  503: ['Retry-After'],
}

const allCodes = Object.keys(errorTable) as ErrorCode[]

/** The codes that operations return. */
export const codesOfOperations = allCodes.filter((code) => onlyOf[code] !== null)

/** Returns the error responses of an operation, by status. */
export function errorResponses(operation: OperationName) {
  const ofOperation = codesOfOperations.filter((code) => (onlyOf[code] ?? operation) === operation)
  const statuses = [...new Set(ofOperation.map((code) => errorTable[code].status))]
  return Object.fromEntries(
    statuses.map((status) => {
      const ofStatus = ofOperation.filter((code) => errorTable[code].status === status)
      const examples = Object.fromEntries(ofStatus.map((code) => [code, { $ref: `#/components/examples/${code}` }]))
      const response = {
        description: descriptionOf(ofStatus),
        headers: responseHeaders(operation, headersOf[status]),
        ...jsonContent({ schema: { $ref: schemaRef('Error') }, examples }),
      }
      return [status, response]
    }),
  )
}

/** Returns the codes and messages of a status as Markdown. */
function descriptionOf(ofStatus: readonly ErrorCode[]): string {
  const lines = ofStatus.map((code) => `\`${code}\`: ${markdownMessage(code)}`)
  return lines.length === 1 ? lines.join() : lines.map((line) => `- ${line}`).join('\n')
}

/** Returns a default message as Markdown. Escapes `<`, because `<API_KEY>` would be an HTML tag. */
function markdownMessage(code: ErrorCode): string {
  return errorTable[code].message.replaceAll('<', '\\<')
}

/** Returns every error code as a row of a Markdown table. */
export function errorRows(): string[] {
  return allCodes.map((code) => `| ${errorTable[code].status} | \`${code}\` | ${markdownMessage(code)} |`)
}
