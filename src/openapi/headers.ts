import type { OperationName } from '../http/routes.ts'
import { DEPRECATION, SUNSET } from '../pets/deprecation.ts'
import type { JsonSchema } from './schemas.ts'

/** A response header in the OpenAPI document. */
interface Header {
  /** The name of the header, if it differs from the key in `headers`. */
  readonly header?: string
  readonly description: string
  /** Whether the header is in every response that declares the header. */
  readonly required?: true
  /** @default a string */
  readonly schema?: JsonSchema
}

/** Every response header in the OpenAPI document, by component name. */
const headers = {
  'X-RateLimit-Limit': {
    description: 'The request limit in force: that of the window with the fewest requests remaining.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
  },
  'X-RateLimit-Remaining': {
    description: 'The requests that remain until the limit resets.',
    required: true,
    schema: { type: 'integer', minimum: 0 },
  },
  'X-RateLimit-Reset': {
    description: 'When the limit resets, in Unix seconds.',
    required: true,
    schema: { type: 'integer', format: 'int64' },
  },
  'X-Content-Type-Options': {
    description: 'Forbids browsers to guess another media type.',
    required: true,
    schema: { type: 'string', const: 'nosniff' },
  },
  'Cache-Control': {
    description: 'Forbids caches to store the response.',
    required: true,
    schema: { type: 'string', const: 'no-store' },
  },
  NextPage: {
    header: 'Link',
    description: 'The target with `rel="next"` is the next page (RFC 8288). Absent on the last page.',
  },
  'X-Next-Cursor': { description: 'The value of `cursor` for the next page. Absent on the last page.' },
  Location: {
    description: 'Where the animal is. Absent when getPet has been removed.',
    schema: { type: 'string', format: 'uri-reference' },
  },
  Deprecation: {
    description: 'Since when the operation is deprecated: an at sign and Unix seconds (RFC 9745).',
    schema: { type: 'string', const: DEPRECATION },
  },
  Sunset: {
    description: 'When the operation is removed (RFC 8594).',
    schema: { type: 'string', const: SUNSET },
  },
  Successor: {
    header: 'Link',
    description: 'The target with `rel="successor-version"` replaces the operation (RFC 5829).',
  },
  'WWW-Authenticate': {
    description: 'The scheme to use, with `error="invalid_token"` if the request had a bearer token (RFC 6750).',
    required: true,
  },
  Allow: { description: 'The methods that the path supports.', required: true },
  Accept: { description: 'The media type to use, if that was wrong (RFC 9110, section 15.5.16).' },
  'Accept-Encoding': { description: 'The content coding to use, if that was wrong (RFC 9110, section 15.5.16).' },
  'Retry-After': {
    description:
      'The seconds after which to send the request again. A client that waits this long after a 429 is served.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
  },
} satisfies Record<string, Header>

/** The name of a response header in the OpenAPI document. */
export type HeaderName = keyof typeof headers

const ofEveryResponse: readonly HeaderName[] = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'Cache-Control',
  'X-Content-Type-Options',
]

/** Headers of one operation only. These headers are optional, because the 404 and 405 responses of the router lack them. */
const ofOperation: Partial<Record<OperationName, readonly HeaderName[]>> = {
  getPet: ['Deprecation', 'Sunset', 'Successor'],
}

/** Returns the headers of a response, as references to {@link headerComponents}. */
export function responseHeaders(operation: OperationName, own: readonly HeaderName[] = []) {
  const keys = [...own, ...(ofOperation[operation] ?? []), ...ofEveryResponse]
  return Object.fromEntries(
    keys.map((key) => {
      const { header = key }: Header = headers[key]
      return [header, { $ref: `#/components/headers/${key}` }]
    }),
  )
}

/** Returns all headers as components of the OpenAPI document. */
export function headerComponents() {
  return Object.fromEntries(
    Object.entries<Header>(headers).map(([key, { description, required = false, schema = { type: 'string' } }]) => [
      key,
      { description, required, schema },
    ]),
  )
}
