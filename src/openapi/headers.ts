import type { DocumentedOptions } from '../documented-options.ts'
import { deprecationHeader, deprecations, successorLink, sunsetHeader } from '../http/deprecation.ts'
import { REQUEST_ID } from '../http/request-id.ts'
import { type Deprecation, type OperationName, operations } from '../operations.ts'
import { int64 } from './component-schemas.ts'

/** Returns the names of the headers that every response of a store has. */
function headersOfAll({ requestId, standardRateLimitHeaders }: DocumentedOptions): readonly string[] {
  return [
    'X-RateLimit-Limit',
    'X-RateLimit-Remaining',
    'X-RateLimit-Reset',
    ...(standardRateLimitHeaders ? ['RateLimit-Policy', 'RateLimit'] : []),
    'Cache-Control',
    'X-Content-Type-Options',
    ...(requestId ? ['X-Request-Id'] : []),
  ]
}

/**
 * Returns the headers of a response: the `additional` ones, and those that every response of the
 * operation has.
 */
export function headerRefs(operation: OperationName, options: DocumentedOptions, additional: readonly string[] = []) {
  const ofDeprecation = operations[operation].deprecation ? ['Deprecation', 'Sunset', 'Successor'] : []
  const nameOf = (component: string) => (['NextPage', 'Successor'].includes(component) ? 'Link' : component)
  const components = [...additional, ...ofDeprecation, ...headersOfAll(options)]
  return Object.fromEntries(components.map((name) => [nameOf(name), { $ref: `#/components/headers/${name}` }]))
}

/**
 * Returns the headers to which the responses refer. A header is required unless some responses with
 * the same status lack it: a 415 may lack `Accept`.
 * @param api - the first part of every link
 */
export function headerComponents(api: string, options: DocumentedOptions) {
  const required = [...headersOfAll(options), 'WWW-Authenticate', 'Retry-After']
  return Object.fromEntries(
    Object.entries(headers(api, options)).map(([name, { description, ...others }]) => [
      name,
      { description, required: required.includes(name), ...others },
    ]),
  )
}

const text = (example: string) => ({ schema: { type: 'string' }, example })
const constant = (value: string) => ({ schema: { type: 'string', const: value }, example: value })
const integer = (minimum: number, example: number) => ({ schema: { type: 'integer', minimum }, example })

function headers(api: string, { requestId, standardRateLimitHeaders }: DocumentedOptions) {
  return {
    'X-RateLimit-Limit': {
      description: 'The request limit in force: that of the window with the fewest requests remaining.',
      ...integer(1, 60),
    },
    'X-RateLimit-Remaining': { description: 'The requests that remain until the limit resets.', ...integer(0, 59) },
    'X-RateLimit-Reset': {
      description: 'When the limit resets, in Unix seconds.',
      schema: { ...int64, minimum: 0 },
      example: 1893456060,
    },
    'X-Content-Type-Options': { description: 'Forbids browsers to guess another media type.', ...constant('nosniff') },
    ...(standardRateLimitHeaders && {
      'RateLimit-Policy': {
        description:
          'The limits (`q`) of both windows, whose lengths (`w`) are in seconds (draft-ietf-httpapi-ratelimit-headers-11).',
        ...text('"minute";q=60;w=60, "day";q=1000;w=86400'),
      },
      RateLimit: {
        description:
          'The requests that remain (`r`) in both windows, and the seconds until each window ends (`t`). During a ban, none remain until it ends.',
        ...text('"minute";r=59;t=30, "day";r=999;t=43230'),
      },
    }),
    ...(requestId && {
      'X-Request-Id': {
        description:
          'The id of the request, for questions to the operator: the one that the client has sent in this header, or a new one.',
        schema: { type: 'string', pattern: REQUEST_ID.source },
        example: '7c7e3b4f-1f0b-4b5e-9d3a-0f6c5a1d2e3f',
      },
    }),
    'Cache-Control': { description: 'Forbids caches to store the response.', ...constant('no-store') },
    NextPage: {
      description: 'The target with `rel="next"` is the next page (RFC 8288). Absent on the last page.',
      schema: { type: 'string' },
      examples: nextPageExamples(`<${api}/pets?limit=2&cursor=MToy>; rel="next"`),
    },
    'X-Next-Cursor': {
      description: 'The value of `cursor` for the next page. Absent on the last page.',
      schema: { type: 'string' },
      examples: nextPageExamples('MToy'),
    },
    Location: {
      description: 'The path or URL of the animal. Absent once the operation getPet is removed.',
      schema: { type: 'string', format: 'uri-reference' },
      example: `${api}/pets/7`,
    },
    'Idempotency-Replayed': {
      description: 'Present if an earlier request with the same `Idempotency-Key` has added the animal.',
      ...constant('true'),
    },
    Deprecation: {
      description: 'When the deprecation begins: an at sign and Unix seconds (RFC 9745).',
      ...ofDeprecations(deprecationHeader),
    },
    Sunset: { description: 'When the operation is removed (RFC 8594).', ...ofDeprecations(sunsetHeader) },
    Successor: {
      description: 'The target with `rel="successor-version"` replaces the operation (RFC 5829).',
      ...text(deprecations.map((deprecation) => successorLink(deprecation, api))[0] ?? ''),
    },
    'WWW-Authenticate': {
      description: 'The scheme to use, with `error="invalid_token"` if the request had a bearer token (RFC 6750).',
      ...text('Bearer realm="petstore"'),
    },
    Accept: {
      description: 'The media type to use, if the request had a wrong media type (RFC 9110, section 15.5.16).',
      ...text('application/json'),
    },
    'Accept-Encoding': {
      description: 'The content coding to use, if the request had a wrong content coding (RFC 9110, section 15.5.16).',
      ...text('identity'),
    },
    'Retry-After': {
      description:
        'The seconds after which to send the request again. A client that waits this long after a 429 is served.',
      ...integer(1, 30),
    },
  }
}

/** Returns the schema of a header with one value for each deprecated operation. */
function ofDeprecations(toValue: (deprecation: Deprecation) => string) {
  const values = [...new Set(deprecations.map(toValue))]
  return { schema: { type: 'string', enum: values }, example: values[0] }
}

/**
 * A mock server sends the first example with every page. If that were a link, clients would read
 * pages for ever.
 */
function nextPageExamples(value: string) {
  return { lastPage: { summary: 'Absent', value: '' }, page: { summary: 'A next page', value } }
}
