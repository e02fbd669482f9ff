import { documentedOptionsOf } from '../documented-options.ts'
import { MAX_LIMIT, type PlanLimits } from '../model.ts'
import type { PetStore } from '../pet-store.ts'
import { HEADER_EXPECTED } from '../schemas/idempotency-key.ts'
import { invalidOption } from '../schemas/options.ts'
import { componentSchemas } from './component-schemas.ts'
import { describeApi } from './description.ts'
import { errorExamples } from './error-responses.ts'
import { headerComponents } from './headers.ts'
import { documentPaths } from './paths.ts'

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
  /** The base URL of the API: a path without the option `publicUrl` of the store. */
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

/**
 * Returns the OpenAPI 3.1 document of a store, for reference pages and client generators. It states the
 * options of this store, such as its plans, its limits and its public URL.
 * @throws {PetStoreError} `invalid_option` if the argument is neither a store nor a copy of one
 * @example
 * ```ts
 * import { createPetStore } from 'petstore-kit'
 * import { openApiDocument } from 'petstore-kit/openapi'
 *
 * const petStore = createPetStore({ publicUrl: 'https://api.example' })
 * const document = openApiDocument(petStore)
 * console.log(document.servers[0]?.url) // https://api.example/v1
 * ```
 */
export function openApiDocument(petStore: PetStore): OpenApiDocument {
  const options = documentedOptionsOf(petStore)
  if (!options)
    throw invalidOption('petStore', 'a pet store that createPetStore has returned, or a copy of it', petStore)
  const { basePath, quotaRules, bodyLimit, maxNameLength, defaultStatus } = options
  const api = options.linkBase({ path: basePath, route: '', query: '' })

  return {
    openapi: '3.1.0',
    info: {
      title: 'Pet store',
      version: '1.0.0',
      description: describeApi(options),
      contact: { name: 'petstore-kit', url: 'https://github.com/petstore-kit/petstore-kit/issues' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: api || '/' }],
    security: [{ bearerAuth: [] }],
    tags: [{ name: 'pets', description: 'The animals of the store' }],
    paths: documentPaths(options),
    components: {
      schemas: componentSchemas({ maxNameLength, defaultStatus }),
      headers: headerComponents(api, options),
      examples: errorExamples(options, {
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
