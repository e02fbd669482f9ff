import type { DocumentedOptions } from '../documented-options.ts'
import { type ErrorCode, errorTable } from '../errors.ts'
import { deprecations, removalMessage } from '../http/deprecation.ts'
import { errorCodesOf, type OperationName, unmatchedErrorCodes } from '../operations.ts'
import { json } from './component-schemas.ts'
import { headerRefs } from './headers.ts'

const allCodes = Object.keys(errorTable) as ErrorCode[]

/** Returns the codes that a store can send. With `sunset: 'announce'`, no operation is ever removed. */
function codesOf({ sunset }: DocumentedOptions): ErrorCode[] {
  return allCodes.filter((code) => code !== 'operation_removed' || sunset === 'enforce')
}

const headersOf: Readonly<Record<number, readonly string[]>> = {
  401: ['WWW-Authenticate'],
  415: ['Accept', 'Accept-Encoding'],
  429: ['Retry-After'],
  503: ['Retry-After'],
}

export function errorResponses(operation: OperationName, options: DocumentedOptions) {
  const ofOperation = errorCodesOf(operation)
  // In the order of `errorTable`, so that the most frequent code of each status comes first.
  const codes = codesOf(options).filter((code) => ofOperation.includes(code))
  return Object.fromEntries(
    codes.map((first) => {
      const { status } = errorTable[first]
      const ofStatus = codes.filter((code) => errorTable[code].status === status)
      const lines = ofStatus.map((code) => `\`${code}\`: ${markdownMessage(code)}`)
      const description = lines.length === 1 ? lines.join() : lines.map((line) => `- ${line}`).join('\n')
      const examples = Object.fromEntries(ofStatus.map((code) => [code, { $ref: `#/components/examples/${code}` }]))
      const headers = headerRefs(operation, options, headersOf[status])
      return [status, { description, headers, ...json('Error', examples) }]
    }),
  )
}

/**
 * Returns an example of each error response. `messages` has those that differ from the default
 * message.
 */
export function errorExamples(options: DocumentedOptions, messages: Partial<Record<ErrorCode, string | undefined>>) {
  const codes = codesOf(options).filter((code) => !unmatchedErrorCodes.includes(code))
  const texts: typeof messages = { operation_removed: deprecations.map(removalMessage)[0], ...messages }
  return Object.fromEntries(
    codes.map((code) => {
      const { message, status } = errorTable[code]
      return [code, { summary: code, value: { code, message: texts[code] ?? message, status } }]
    }),
  )
}

export function errorRows(options: DocumentedOptions): string {
  return codesOf(options)
    .map((code) => `| ${errorTable[code].status} | \`${code}\` | ${markdownMessage(code)} |`)
    .join('\n')
}

/** Escapes `<`, because `<API_KEY>` would be an HTML tag in Markdown. */
function markdownMessage(code: ErrorCode): string {
  return errorTable[code].message.replaceAll('<', '\\<')
}
