import { MAX_LIMIT, type PlanLimits } from '../model.ts'
import { type PetStoreOptions, resolveOptions, storeShape } from '../options.ts'
import { HEADER_EXPECTED } from '../schemas/idempotency-key.ts'
import { optionsOf } from '../schemas/options.ts'
import { parseOptions } from '../schemas/parse-options.ts'
import { componentSchemas } from './component-schemas.ts'
import { describeApi } from './description.ts'
import { errorExamples } from './error-responses.ts'
import { headerComponents } from './headers.ts'
import { documentPaths } from './paths.ts'

/**
 * The options of {@link openApiDocument}: those of `createPetStore` that clients see, and the
 * public URL.
 */
export interface OpenApiOptions
  extends Pick<PetStoreOptions, 'basePath' | 'plans' | 'ban' | 'bodyLimit' | 'maxNameLength' | 'defaultStatus'> {
  /**
   * The public URL of the server, with or without `basePath`.
   * @default the host from which the document is loaded
   */
  readonly publicUrl?: string | undefined
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

const { publicUrl, basePath, plans, ban, bodyLimit, maxNameLength, defaultStatus } = storeShape
const openApiOptions = optionsOf<OpenApiOptions>({
  publicUrl,
  basePath,
  plans,
  ban,
  bodyLimit,
  maxNameLength,
  defaultStatus,
})

/**
 * Returns the OpenAPI 3.1 document of the service, for reference pages and client generators.
 * @throws {PetStoreError} `invalid_option`, with the name of the option
 * @example
 * ```ts
 * import { openApiDocument } from 'petstore-kit/openapi'
 *
 * const document = openApiDocument({ publicUrl: 'https://api.example' })
 * console.log(document.servers[0]?.url) // https://api.example/v1
 * ```
 */
export function openApiDocument(options: OpenApiOptions = {}): OpenApiDocument {
  const { publicUrl, ...storeOptions } = parseOptions(openApiOptions, options)
  const resolved = resolveOptions({ ...storeOptions, publicUrl })
  const { quotaRules, bodyLimit, maxNameLength, defaultStatus } = resolved
  const api = resolved.linkBase({ path: resolved.basePath, route: '', query: '' })

  return {
    openapi: '3.1.0',
    info: {
      title: 'Pet store',
      version: '1.0.0',
      description: describeApi(quotaRules),
      contact: { name: 'petstore-kit', url: 'https://github.com/petstore-kit/petstore-kit/issues' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: api || '/' }],
    security: [{ bearerAuth: [] }],
    tags: [{ name: 'pets', description: 'The animals of the store' }],
    paths: documentPaths(bodyLimit),
    components: {
      schemas: componentSchemas({ maxNameLength, defaultStatus }),
      headers: headerComponents(api),
      examples: errorExamples({
        invalid_parameter: `The query is not valid: limit: expected a whole number from 1 to ${MAX_LIMIT}, got the string "500".`,
        invalid_body:
          'The body is not a valid animal: categoryId: expected an integer from -2^63 to 2^63-1, got the string "1".',
        malformed_json:
          "The body cannot be read as JSON: Quoted object key or end of object '}' expected but reached end of input at position 14.",
        invalid_idempotency_key: `The header Idempotency-Key is not valid: expected ${HEADER_EXPECTED}, got the string "order 1" of 7 characters.`,
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
