import { type ErrorCode, errorTable } from '../errors.ts'
import type { OperationName } from '../http/routes.ts'
import type { QuotaRules } from '../quota/rate-limit.ts'

const allCodes = Object.keys(errorTable) as ErrorCode[]

/** The error codes of a single operation, and those of requests that match no operation. Every operation has all other codes. */
const codesOf: Readonly<Record<OperationName | 'noOperation', readonly ErrorCode[]>> = {
  listPets: ['invalid_parameter'],
  createPet: [
    'malformed_json',
    'invalid_body',
    'invalid_idempotency_key',
    'idempotency_not_supported',
    'idempotency_key_reused',
    'incomplete_body',
    'payload_too_large',
    'unsupported_media_type',
    'body_already_read',
  ],
  getPet: ['pet_not_found', 'operation_removed'],
  noOperation: ['route_not_found', 'method_not_allowed'],
}

const headersOf: Readonly<Record<number, readonly string[]>> = {
  401: ['WWW-Authenticate'],
  415: ['Accept', 'Accept-Encoding'],
  429: ['Retry-After'],
  503: ['Retry-After'],
}

const headersOfAll = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'Cache-Control',
  'X-Content-Type-Options',
]

/** Returns the headers of a response: the `additional` ones, and those that every response of the operation has. */
export function headerRefs(operation: OperationName, additional: readonly string[] = []) {
  const ofGetPet = operation === 'getPet' ? ['Deprecation', 'Sunset', 'Successor'] : []
  const nameOf = (component: string) => (['NextPage', 'Successor'].includes(component) ? 'Link' : component)
  const components = [...additional, ...ofGetPet, ...headersOfAll]
  return Object.fromEntries(components.map((name) => [nameOf(name), { $ref: `#/components/headers/${name}` }]))
}

/** Adds `required` to a header. It is false if some responses with the same status lack the header: a 415 may lack `Accept`. */
export function headerComponent([name, { description, ...others }]: [string, { description: string; schema: object }]) {
  const required = [...headersOfAll, 'WWW-Authenticate', 'Retry-After'].includes(name)
  return [name, { description, required, ...others }] as const
}

/** A mock server sends the first example with every page. If that were a link, clients would read pages for ever. */
export function nextPageExamples(value: string) {
  return { lastPage: { summary: 'Absent', value: '' }, page: { summary: 'A next page', value } }
}

export function ref(schema: string) {
  return { $ref: `#/components/schemas/${schema}` }
}

/** Returns the member `content` of a JSON body with this component as its schema. */
export function json(schema: string, examples: object) {
  return { content: { 'application/json': { schema: ref(schema), examples } } }
}

export function errorResponses(operation: OperationName) {
  const ofOthers = Object.entries(codesOf).flatMap(([name, codes]) => (name === operation ? [] : codes))
  const codes = allCodes.filter((code) => !ofOthers.includes(code))
  return Object.fromEntries(
    codes.map((first) => {
      const { status } = errorTable[first]
      const ofStatus = codes.filter((code) => errorTable[code].status === status)
      const lines = ofStatus.map((code) => `\`${code}\`: ${markdownMessage(code)}`)
      const description = lines.length === 1 ? lines.join() : lines.map((line) => `- ${line}`).join('\n')
      const examples = Object.fromEntries(ofStatus.map((code) => [code, { $ref: `#/components/examples/${code}` }]))
      const headers = headerRefs(operation, headersOf[status])
      return [status, { description, headers, ...json('Error', examples) }]
    }),
  )
}

/** Returns an example of each error response. `messages` has those that differ from the default message. */
export function errorExamples(messages: Partial<Record<ErrorCode, string>>) {
  const codes = allCodes.filter((code) => !codesOf.noOperation.includes(code))
  return Object.fromEntries(
    codes.map((code) => {
      const { message, status } = errorTable[code]
      return [code, { summary: code, value: { code, message: messages[code] ?? message, status } }]
    }),
  )
}

export function errorRows(): string {
  return allCodes.map((code) => `| ${errorTable[code].status} | \`${code}\` | ${markdownMessage(code)} |`).join('\n')
}

/** Escapes `<`, because `<API_KEY>` would be an HTML tag in Markdown. */
function markdownMessage(code: ErrorCode): string {
  return errorTable[code].message.replaceAll('<', '\\<')
}

/** Returns the plans as rows of a Markdown table. Escapes their names, which may have any characters. */
export function planRows(plans: QuotaRules['plans']): string {
  const escaped = (text: string) => text.replaceAll(/[\\`*_{}[\]<>#|&]/g, '\\$&').replaceAll(/\s+/g, ' ')
  return Object.entries(plans)
    .map(([plan, { perMinute, perDay }]) => `| ${escaped(plan)} | ${grouped(perMinute)} | ${grouped(perDay)} |`)
    .join('\n')
}

export function banText(ban: QuotaRules['ban']): string {
  if (!ban) return ''
  const refusals = ban.afterRefusals === undefined ? 'its limit per minute' : grouped(ban.afterRefusals)
  return ` When the number of refused requests of a key within one minute reaches ${refusals}, the key is banned for
${grouped(ban.seconds)} seconds. Requests during a ban do not lengthen it.`
}

export function grouped(count: number): string {
  return count.toLocaleString('en')
}
