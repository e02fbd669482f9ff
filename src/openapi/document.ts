import { operationPlaces } from '../http/routes.ts'
import type { PlanLimits } from '../model.ts'
import { resolveAddress, resolvePlans, storeRules } from '../options.ts'
import { checkOptions, type OptionRules } from '../support/option-rules.ts'
import { errorExamples } from './errors.ts'
import { headerComponents } from './headers.ts'
import { operationObject } from './operations.ts'
import { bodySchemas } from './schemas.ts'

/** The options of {@link openApiDocument}. */
export interface OpenApiOptions {
  /**
   * The public URL of the server: `https://api.example`, or a URL that includes the path of the API.
   * @default the host from which the document is loaded
   */
  readonly serverUrl?: string | undefined
  /** The path under which clients see the API. @default '/v1' */
  readonly basePath?: string | undefined
  /** Limits by plan, as in the option `plans` of `createPetStore`. @default the plans of the interface specification */
  readonly plans?: Readonly<Record<string, PlanLimits>> | undefined
}

/** An OpenAPI 3.1 document: plain JSON values, which you may change. */
export type OpenApiDocument = {
  /** The version of the OpenAPI specification. */
  openapi: string
  /** Title, version, description and licence of the API. */
  info: { title: string; version: string; description: string; license: { name: string; identifier: string } }
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

const rules: OptionRules<keyof OpenApiOptions> = {
  serverUrl: storeRules.publicUrl,
  basePath: storeRules.basePath,
  plans: storeRules.plans,
}

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
  const { basePath, linkBase } = resolveAddress({ basePath: options.basePath, publicUrl: options.serverUrl })
  const plans = resolvePlans(options.plans)
  const paths: OpenApiDocument['paths'] = {}
  for (const { name, method, path } of operationPlaces())
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationObject(name) }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Pet store',
      version: '1.0.0',
      description: description(plans),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: linkBase({ path: basePath, route: '', query: '' }) || '/' }],
    security: [{ bearerAuth: [] }],
    tags: [{ name: 'pets', description: 'The animals of the store' }],
    paths,
    components: {
      schemas: bodySchemas(),
      headers: headerComponents(),
      examples: errorExamples(),
      securitySchemes: {
        bearerAuth: { type: 'http', scheme: 'bearer', description: 'An API key, which the operator issues.' },
      },
    },
    'x-rate-limits': Object.fromEntries(Object.entries(plans).map(([plan, limits]) => [plan, { ...limits }])),
  }
}

/** Returns the description of the API in Markdown. */
function description(plans: Readonly<Record<string, PlanLimits>>): string {
  const rows = Object.entries(plans).map(
    ([plan, { perMinute, perDay }]) => `| ${escapeMarkdown(plan)} | ${grouped(perMinute)} | ${grouped(perDay)} |`,
  )
  return `A catalogue of animals offered in a store.

Every request needs an API key as a bearer token. Ids are 64-bit integers: use a JSON reader that keeps all of their digits.

## Pages

\`GET /pets\` returns one page. The next page is in \`Link\` with \`rel="next"\`; \`X-Next-Cursor\` holds the value of the
parameter \`cursor\` for it. The last page has neither header.

## Limits

Requests are counted per API key, in windows of one UTC minute and one UTC day:

| Plan | Requests per minute | Requests per day |
| --- | --- | --- |
${rows.join('\n')}

Keys of other plans, such as Enterprise, have limits of their own. Every response states the limit in \`X-RateLimit-Limit\`,
\`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\`. Over the limit, the response is 429; wait as long as \`Retry-After\` says. A key that
keeps sending is banned for a while.`
}

/** Returns a number with commas, such as `100,000`. */
function grouped(count: number): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ',')
}

/** Escapes the name of a plan, because the operator may choose any characters. */
function escapeMarkdown(text: string): string {
  return text.replaceAll(/[\\`*_{}[\]<>#|&]/g, '\\$&').replaceAll(/\s+/g, ' ')
}
