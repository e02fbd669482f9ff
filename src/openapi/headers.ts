import type { OperationName } from '../http/routes.ts'
import { DEPRECATION, SUNSET } from '../pets/deprecation.ts'
import { nextPageHeaders } from '../pets/pagination.ts'
import { ADDED, PAGE, PAGE_QUERY, RETRY_AFTER } from './examples.ts'
import type { JsonSchema } from './json-schema.ts'

/** A response header in the OpenAPI document. */
interface Header {
  readonly description: string
  /** Whether the header is in every response that declares the header. */
  readonly required?: boolean
  /** @default a string */
  readonly schema?: JsonSchema
  readonly example?: string | number
  readonly examples?: object
}

/** Returns the schema and the example of a header that always has the same value. */
const constant = (value: string) => ({ schema: { type: 'string', const: value }, example: value })

/** Returns the examples of a header that is absent on the last page of a list. */
const pageExamples = (value: string) => ({
  // A mock server sends the first example. With another value than '', its pages would never end.
  lastPage: { summary: 'Absent', value: '' },
  page: { summary: 'A next page', value },
})

/** Returns all headers by their component names. @param api - the URL of the API, or its path */
function headersOf(api: string) {
  const [, link = '', , cursor = ''] = nextPageHeaders(`${api}/pets`, `${PAGE_QUERY}&`, PAGE.nextCursor)
  return {
    'X-RateLimit-Limit': {
      description: 'The request limit in force: that of the window with the fewest requests remaining.',
      required: true,
      schema: { type: 'integer', minimum: 1 },
      example: 60,
    },
    'X-RateLimit-Remaining': {
      description: 'The requests that remain until the limit resets.',
      required: true,
      schema: { type: 'integer', minimum: 0 },
      example: 59,
    },
    'X-RateLimit-Reset': {
      description: 'When the limit resets, in Unix seconds.',
      required: true,
      schema: { type: 'integer', format: 'int64', minimum: 0 },
      example: Date.UTC(2030, 0, 1, 0, 1) / 1_000,
    },
    'X-Content-Type-Options': {
      description: 'Forbids browsers to guess another media type.',
      required: true,
      ...constant('nosniff'),
    },
    'Cache-Control': { description: 'Forbids caches to store the response.', required: true, ...constant('no-store') },
    NextPage: {
      description: 'The target with `rel="next"` is the next page (RFC 8288). Absent on the last page.',
      examples: pageExamples(link),
    },
    'X-Next-Cursor': {
      description: 'The value of `cursor` for the next page. Absent on the last page.',
      examples: pageExamples(cursor),
    },
    Location: {
      description: 'Where the animal is. Absent when getPet has been removed.',
      schema: { type: 'string', format: 'uri-reference' },
      example: `${api}/pets/${ADDED.id}`,
    },
    'Idempotency-Replayed': {
      description: 'Present if an earlier request with the same `Idempotency-Key` has added the animal.',
      ...constant('true'),
    },
    Deprecation: {
      description: 'Since when the operation is deprecated: an at sign and Unix seconds (RFC 9745).',
      ...constant(DEPRECATION),
    },
    Sunset: { description: 'When the operation is removed (RFC 8594).', ...constant(SUNSET) },
    Successor: {
      description: 'The target with `rel="successor-version"` replaces the operation (RFC 5829).',
      example: `<${api}/pets>; rel="successor-version"`,
    },
    'WWW-Authenticate': {
      description: 'The scheme to use, with `error="invalid_token"` if the request had a bearer token (RFC 6750).',
      required: true,
      example: 'Bearer realm="petstore"',
    },
    Accept: {
      description: 'The media type to use, if that was wrong (RFC 9110, section 15.5.16).',
      example: 'application/json',
    },
    'Accept-Encoding': {
      description: 'The content coding to use, if that was wrong (RFC 9110, section 15.5.16).',
      example: 'identity',
    },
    'Retry-After': {
      description:
        'The seconds after which to send the request again. A client that waits this long after a 429 is served.',
      required: true,
      schema: { type: 'integer', minimum: 1 },
      example: RETRY_AFTER,
    },
  } satisfies Record<string, Header>
}

/** The name of a response header in the OpenAPI document. */
export type HeaderName = keyof ReturnType<typeof headersOf>

const ofEveryResponse: readonly HeaderName[] = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'Cache-Control',
  'X-Content-Type-Options',
]

/** Headers of one operation only. They are optional, because a response to what the HTTP parser refuses lacks them. */
const ofOperation: Partial<Record<OperationName, readonly HeaderName[]>> = {
  getPet: ['Deprecation', 'Sunset', 'Successor'],
}

/** The names of headers whose component has another name. */
const realNames: Partial<Record<HeaderName, string>> = { NextPage: 'Link', Successor: 'Link' }

/** Returns the headers of a response, as references to {@link headerComponents}. */
export function responseHeaders(operation: OperationName, own: readonly HeaderName[] = []) {
  const keys = [...own, ...(ofOperation[operation] ?? []), ...ofEveryResponse]
  return Object.fromEntries(keys.map((key) => [realNames[key] ?? key, { $ref: `#/components/headers/${key}` }]))
}

/** Returns all headers as components of the OpenAPI document. @param api - the URL of the API, or its path */
export function headerComponents(api: string) {
  return Object.fromEntries(
    Object.entries<Header>(headersOf(api)).map(([key, header]) => {
      const { description, required = false, schema = { type: 'string' }, ...examples } = header
      return [key, { description, required, schema, ...examples }]
    }),
  )
}
