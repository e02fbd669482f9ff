import type { PlanLimits } from '../model.ts'
import { type PetStoreOptions, resolveOptions, storeRules } from '../options.ts'
import { checkOptions } from '../support/option-rules.ts'
import { apiDescription } from './description.ts'
import { codesOfOperations } from './errors.ts'
import { errorExamples } from './examples.ts'
import { headerComponents } from './headers.ts'
import { serviceOperations } from './operations.ts'
import { bodySchemas } from './schemas.ts'
import { openApiFrame, pathsOf } from './writer.ts'

/** The options of {@link openApiDocument}: those of `createPetStore` that clients see, and the public URL. */
export interface OpenApiOptions
  extends Pick<PetStoreOptions, 'basePath' | 'plans' | 'ban' | 'bodyLimit' | 'maxNameLength' | 'defaultStatus'> {
  /**
   * The public URL of the server: `https://api.example`, or a URL that includes the path of the API.
   * @default the host from which the document is loaded
   */
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

/**
 * Returns the OpenAPI 3.1 document of the service, for reference pages and client generators.
 *
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
  const { quotaRules, bodyLimit } = resolved
  const api = resolved.linkBase({ path: resolved.basePath, route: '', query: '' })
  return {
    ...openApiFrame('Pet store', apiDescription(quotaRules)),
    servers: [{ url: api || '/' }],
    security: [{ bearerAuth: [] }],
    tags: [{ name: 'pets', description: 'The animals of the store' }],
    paths: pathsOf(serviceOperations(bodyLimit)),
    components: {
      schemas: bodySchemas(resolved),
      headers: headerComponents(api),
      examples: errorExamples(codesOfOperations, resolved),
      securitySchemes: {
        bearerAuth: { type: 'http', scheme: 'bearer', description: 'An API key, which the operator issues.' },
      },
    },
    'x-rate-limits': Object.fromEntries(
      Object.entries(quotaRules.plans).map(([plan, limits]) => [plan, { ...limits }]),
    ),
  }
}
