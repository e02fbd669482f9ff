import { MAX_LIMIT, type NewPet, type Pet, type PlanLimits, petStatuses } from '../model.ts'
import { type PetStoreOptions, resolveOptions, storeRules } from '../options.ts'
import { DEPRECATION, SUNSET } from '../pets/get.ts'
import { IDEMPOTENCY_KEY } from '../pets/idempotency.ts'
import { NAME } from '../schemas/pet.ts'
import { DEFAULT_LIMIT } from '../schemas/query.ts'
import { checkOptions } from '../support/option-rules.ts'
import {
  banText,
  errorExamples,
  errorResponses,
  errorRows,
  grouped,
  headerComponent,
  headerRefs,
  json,
  nextPageExamples,
  planRows,
  ref,
} from './holes.ts'

/** The options of {@link openApiDocument}: those of `createPetStore` that clients see, and the public URL. */
export interface OpenApiOptions
  extends Pick<PetStoreOptions, 'basePath' | 'plans' | 'ban' | 'bodyLimit' | 'maxNameLength' | 'defaultStatus'> {
  /** The public URL of the server, with or without `basePath`. @default the host from which the document is loaded */
  readonly serverUrl?: string | undefined
}

/** An OpenAPI 3.1 document: plain JSON values, which you may change. */
export type OpenApiDocument = {
  /** The version of the OpenAPI specification. */
  openapi: string
  /** Title, version, description, contact and licence of the API. */
  info: {
    title: string
    version: string
    description: string
    contact: { name: string; url: string }
    license: { name: string; identifier: string }
  }
  /** The base URL of the API. */
  servers: { url: string }[]
  /** The authentication that every operation requires. */
  security: Record<string, string[]>[]
  /** The groups of operations. */
  tags: { name: string; description: string }[]
  /** The operations, by path and method. */
  paths: Record<string, Record<string, unknown>>
  /** Schemas, headers, examples and security schemes, to which the operations refer. */
  components: Record<'schemas' | 'headers' | 'examples' | 'securitySchemes', Record<string, unknown>>
  /** The limits of each plan. Keys of other plans have limits of their own. */
  'x-rate-limits': Record<string, PlanLimits>
}

const { publicUrl: serverUrl, basePath, plans, ban, bodyLimit, maxNameLength, defaultStatus } = storeRules
const rules = { serverUrl, basePath, plans, ban, bodyLimit, maxNameLength, defaultStatus }

type Example = Record<keyof Pet, string | number>

/**
 * Returns the OpenAPI 3.1 document of the service, for reference pages and client generators.
 * @throws {PetStoreError} `invalid_option`, with the name of the option
 * @example
 * ```ts
 * import { openApiDocument } from 'petstore-kit/openapi'
 *
 * const document = openApiDocument({ serverUrl: 'https://api.example' })
 * console.log(document.servers[0]?.url) // https://api.example/v1
 * ```
 */
export function openApiDocument(options: OpenApiOptions = {}): OpenApiDocument {
  checkOptions(rules, options)
  const { serverUrl, ...storeOptions } = options
  const resolved = resolveOptions({ ...storeOptions, publicUrl: serverUrl })
  const { quotaRules, bodyLimit, maxNameLength, defaultStatus } = resolved
  const api = resolved.linkBase({ path: resolved.basePath, route: '', query: '' })

  const int64 = { type: 'integer', format: 'int64' }
  const rex = { id: 7, name: 'Rex', categoryId: 1, status: 'available' } satisfies Example
  const ada = { id: 2, name: 'Ada', categoryId: 2, status: 'sold' } satisfies Example
  const name = { description: 'The name. At least one character is not white space.', examples: ['Rex'] }
  const categoryId = {
    ...int64,
    description: 'The identifier of the category to which the animal belongs.',
    examples: [1],
  }
  // No description beside `$ref`: some generators do not support it.
  const status = ref('PetStatus')
  const limit = { default: DEFAULT_LIMIT, type: 'integer', minimum: 1, maximum: MAX_LIMIT }
  const text = (example: string) => ({ schema: { type: 'string' }, example })
  const constant = (value: string) => ({ schema: { type: 'string', const: value }, example: value })
  const integer = (minimum: number, example: number) => ({ schema: { type: 'integer', minimum }, example })

  const heading = (operationId: string, summary: string) => ({ operationId, tags: ['pets'], summary })
  const addedPet = {
    operationId: 'getPet',
    description: 'The added animal.',
    parameters: { petId: '$response.body#/id' },
  }
  const nextPage = {
    operationId: 'listPets',
    description: 'The next page, unless `X-Next-Cursor` is absent.',
    parameters: {
      limit: '$request.query.limit',
      status: '$request.query.status',
      cursor: '$response.header.X-Next-Cursor',
    },
  }

  const listPets = {
    ...heading('listPets', 'List animals'),
    description:
      'Returns the animals by ascending id, one page at a time. No animal is repeated or skipped while others are added.',
    parameters: [
      { name: 'limit', description: 'The largest number of animals to return.', example: 2, schema: limit },
      { name: 'status', description: 'Returns only animals with this status.', example: 'available', schema: status },
      {
        name: 'cursor',
        description: 'The value of `X-Next-Cursor` in the response with the previous page.',
        example: 'MToy',
        schema: { type: 'string' },
      },
    ].map(({ name, ...others }) => ({ name, in: 'query', ...others, required: false })),
    responses: {
      200: {
        description: 'A page of animals.',
        headers: headerRefs('listPets', ['NextPage', 'X-Next-Cursor']),
        links: { nextPage },
        ...json('Pets', {
          lastPage: { summary: 'The last page', value: [rex] },
          page: { summary: 'A page with a next page, for limit=2', value: [{ ...rex, id: 1 }, ada] },
        }),
      },
      ...errorResponses('listPets'),
    },
  }

  const createPet = {
    ...heading('createPet', 'Add an animal'),
    description: `Adds an animal. A body of more than ${grouped(bodyLimit)} bytes gets 413.`,
    parameters: [
      {
        name: 'Idempotency-Key',
        in: 'header',
        description:
          'A key of your choice, such as a UUID, bare or as a quoted string. If no response arrives, send the request again with this key within 48 hours: the animal is added only once.',
        schema: { type: 'string', pattern: IDEMPOTENCY_KEY.source },
        example: '8e03978e-40d5-43dd-bc93-6894a57f9324',
        required: false,
      },
    ],
    requestBody: {
      required: true,
      ...json('PetToAdd', {
        shortest: { summary: 'With the default status', value: { name: 'Rex', categoryId: 1 } },
        sold: { summary: 'With a status', value: { name: 'Ada', categoryId: 2, status: 'sold' } },
      }),
    },
    responses: {
      201: {
        description: 'The added animal with its id.',
        headers: headerRefs('createPet', ['Location', 'Idempotency-Replayed']),
        links: { addedPet },
        ...json('Pet', { added: { summary: 'The added animal', value: rex } }),
      },
      ...errorResponses('createPet'),
    },
  }

  const getPet = {
    ...heading('getPet', 'Get an animal'),
    description:
      'Returns one animal. This operation is removed on 5 December 2030: use `GET /pets` with a `status` filter instead.',
    deprecated: true,
    parameters: [
      { name: 'petId', in: 'path', description: 'The id of the animal.', schema: int64, example: 7, required: true },
    ],
    responses: {
      200: {
        description: 'The animal.',
        headers: headerRefs('getPet'),
        ...json('Pet', { found: { summary: 'The animal', value: rex } }),
      },
      ...errorResponses('getPet'),
    },
  }

  const headers = {
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
      ...constant(DEPRECATION),
    },
    Sunset: { description: 'When the operation is removed (RFC 8594).', ...constant(SUNSET) },
    Successor: {
      description: 'The target with `rel="successor-version"` replaces the operation (RFC 5829).',
      ...text(`<${api}/pets>; rel="successor-version"`),
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

  return {
    openapi: '3.1.0',
    info: {
      title: 'Pet store',
      version: '1.0.0',
      description: `A catalogue of animals offered in a store.

Every request needs an API key as a bearer token. Ids are 64-bit integers: use a JSON reader that keeps all of their digits.

## Pages

\`GET /pets\` returns one page. The next page is in \`Link\` with \`rel="next"\`; \`X-Next-Cursor\` holds the value of the
parameter \`cursor\` for it. The last page has neither header. Mock servers may send both with an empty value instead.

## Limits

Requests are counted per API key, in windows of one UTC minute and one UTC day. Keys of the same account share their limits,
refusals and bans.

| Plan | Requests per minute | Requests per day |
| --- | --- | --- |
${planRows(quotaRules.plans)}

Keys of other plans, such as Enterprise, have limits of their own. Every response states the limit in \`X-RateLimit-Limit\`,
\`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\`. Over the limit, the response is 429; wait as long as \`Retry-After\` says, and use
exponential backoff if requests keep failing.${banText(quotaRules.ban)}

## Methods

\`HEAD\` responds like \`GET\`, without the body. \`OPTIONS\` responds with 204 and \`Allow\`, the methods of the path. Another method
gets 405 with \`Allow\`, and an unknown path gets 404.

## Errors

Every error has the members \`code\`, \`message\` and \`status\`. Later versions may add codes:

| Status | Code | Meaning |
| --- | --- | --- |
${errorRows()}`,
      contact: { name: 'petstore-kit', url: 'https://github.com/petstore-kit/petstore-kit/issues' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: api || '/' }],
    security: [{ bearerAuth: [] }],
    tags: [{ name: 'pets', description: 'The animals of the store' }],
    paths: { '/pets': { get: listPets, post: createPet }, '/pets/{petId}': { get: getPet } },
    components: {
      // The schemas have the names of the interface specification, but its `NewPet` is `PetToAdd` here: generators for Go give
      // the name `NewPet` to the constructor of `Pet`.
      schemas: {
        Pets: { description: 'A page of animals, by ascending id.', type: 'array', items: ref('Pet') },
        Pet: {
          description: 'An animal of the catalogue.',
          type: 'object',
          required: ['id', 'name', 'categoryId'],
          properties: {
            id: { ...int64, description: 'The unique identifier, which the service assigns.', examples: [7] },
            name: { type: 'string', ...name },
            categoryId,
            status,
          } satisfies Record<keyof Pet, object>,
        },
        PetToAdd: {
          description: 'An animal to add. Other members are ignored.',
          type: 'object',
          required: ['name', 'categoryId'],
          properties: {
            name: { type: 'string', maxLength: maxNameLength, pattern: NAME.source, ...name },
            categoryId,
            status: defaultStatus === null ? status : { default: defaultStatus, ...status },
          } satisfies Record<keyof NewPet, object>,
        },
        PetStatus: { description: 'The availability of an animal.', type: 'string', enum: [...petStatuses] },
        Error: {
          description: 'An error. All error responses have this form.',
          type: 'object',
          required: ['code', 'message', 'status'],
          properties: {
            code: {
              type: 'string',
              description: 'What went wrong, for programs. Expect codes that this document does not list.',
            },
            message: { type: 'string', description: 'What went wrong, for people.' },
            status: { type: 'integer', description: 'The HTTP status of the response.' },
          },
        },
      },
      headers: Object.fromEntries(Object.entries(headers).map(headerComponent)),
      examples: errorExamples({
        invalid_parameter: `The query is not valid: limit: expected a whole number from 1 to ${MAX_LIMIT}, got the string "500".`,
        invalid_body:
          'The body is not a valid animal: categoryId: expected an integer from -2^63 to 2^63-1, got the string "1".',
        malformed_json:
          "The body cannot be read as JSON: Quoted object key or end of object '}' expected but reached end of input at position 14.",
        invalid_idempotency_key:
          'The header Idempotency-Key is not valid: expected 1 to 255 ASCII characters, either without spaces and double quotes or as a string in double quotes such as "8e03978e-40d5-43dd-bc93-6894a57f9324", got the string "order 1" of 7 characters.',
        payload_too_large: `The body is too large: expected at most ${bodyLimit} bytes.`,
        unsupported_media_type:
          'The body must be application/json in UTF-8: expected application/json, got the string "text/plain".',
        rate_limit_exceeded: 'Too many requests. Retry after 30 seconds.',
        api_key_banned:
          'The API key is banned for a while, because it kept sending requests over its limit. Retry after 30 seconds.',
      }),
      securitySchemes: {
        bearerAuth: { type: 'http', scheme: 'bearer', description: 'An API key, which the operator issues.' },
      },
    },
    'x-rate-limits': Object.fromEntries(
      Object.entries(quotaRules.plans).map(([plan, limits]) => [plan, { ...limits }]),
    ),
  }
}
