import { addCorsHeaders, corsRules } from '../../src/http/cors.ts'
import type { CorsOptions } from '../../src/index.ts'
import type { OpenApiOptions } from '../../src/openapi/index.ts'
import type { PlanLimitsByName } from './back-end.ts'
import { print } from './output.ts'
import { documentResponse, type SharedDocument, type SiteRoute, sharedDocument } from './site.ts'

export interface OpenApiFlags {
  readonly yaml?: true
  readonly serverUrl?: string
  readonly basePath?: string
  readonly planLimits: PlanLimitsByName
}

export async function runOpenApi({ yaml, planLimits, ...address }: OpenApiFlags): Promise<void> {
  const document = await documentOf({ ...address, plans: planLimits })
  await print(yaml ? (await import('./yaml.ts')).toYaml(document) : JSON.stringify(document, undefined, 2))
}

/** The settings of a server that its OpenAPI document depends on. */
export interface DocumentOptions extends OpenApiOptions {
  readonly cors?: boolean | CorsOptions | undefined
}

/** Returns the route for a server's OpenAPI document. Web pages that may call the API (CORS) may also read the document. */
export function documentRoute({ cors = false, ...options }: DocumentOptions): SiteRoute {
  const rules = corsRules(cors)
  let shared: Promise<SharedDocument> | undefined
  return async (request) => {
    shared ??= documentOf(options).then((document) => sharedDocument(JSON.stringify(document)))
    const headers = ['Content-Type', 'application/json']
    if (rules) addCorsHeaders(headers, rules, request)
    return documentResponse(await shared, request, headers)
  }
}

/** Returns the document. Its code is loaded on demand, because most commands do not need it. */
async function documentOf(options: OpenApiOptions) {
  const { openApiDocument } = await import('../../src/openapi/index.ts')
  return openApiDocument(options)
}
