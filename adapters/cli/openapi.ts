import type { ApiRequest } from '../../src/index.ts'
import type { OpenApiDocument, OpenApiOptions } from '../../src/openapi/index.ts'
import { boundedMap } from '../../src/support/bounded-map.ts'
import type { SiteRoute, SiteRoutes } from '../hosts/node/site.ts'
import type { ServeFlags } from './flags.ts'
import { print } from './output.ts'
import { HOME, LINKS } from './page/live-page.ts'
import { REFERENCE_HEADERS } from './page/routes.ts'
import { documentResponse, isProxied, type SharedDocument, sharedDocument } from './shared-document.ts'

export interface OpenApiFlags extends Pick<ServeFlags, 'basePath' | 'planLimits'> {
  readonly yaml?: true
  readonly serverUrl?: string
}

export async function runOpenApi({ yaml, planLimits, ...address }: OpenApiFlags): Promise<void> {
  const document = await documentOf({ ...address, plans: planLimits })
  await print(yaml ? await toYaml(document) : JSON.stringify(document, undefined, 2))
}

/** Clients choose the `Host` header, so the number of cached documents is limited. */
const MAX_ADDRESSES = 16

/** Any web page may read the document: it contains no secret, and editors of OpenAPI documents are web pages. */
export function documentRoutes(options: OpenApiOptions) {
  const headers = (type: string) => ['Content-Type', type, 'Access-Control-Allow-Origin', '*']
  return {
    '/openapi.json': documentRoute(options, headers('application/json'), (document) => JSON.stringify(document)),
    '/openapi.yaml': documentRoute(options, headers('application/yaml'), toYaml),
  } satisfies SiteRoutes
}

export function referenceRoute(options: OpenApiOptions): SiteRoute {
  const headers = ['Content-Type', 'text/html; charset=utf-8', ...REFERENCE_HEADERS]
  let page: Promise<SharedDocument> | undefined
  return async (request) => {
    page ??= referenceOf(options).then(sharedDocument)
    return documentResponse(await page, request, headers)
  }
}

async function referenceOf(options: OpenApiOptions): Promise<string> {
  const { referencePage } = await import('../../src/openapi/reference/reference-html.ts')
  const surroundings = { home: HOME.href, links: LINKS, path: '/reference', sendPath: '/' }
  return referencePage(await documentOf(options), surroundings)
}

type Write = (document: OpenApiDocument) => string | Promise<string>

function documentRoute(options: OpenApiOptions, headers: readonly string[], write: Write): SiteRoute {
  const byServer = boundedMap<Promise<SharedDocument>>(MAX_ADDRESSES)
  return async (request) => {
    const server = options.serverUrl === undefined ? serverOf(request) : undefined
    const shared = byServer.get(server ?? '') ?? documentOf(options, server).then(write).then(sharedDocument)
    byServer.set(server ?? '', shared)
    return documentResponse(await shared, request, headers)
  }
}

/**
 * Returns the origin that a request was sent to, because client generators need absolute URLs. Returns `undefined` behind a proxy:
 * this server does not know whether clients use https there.
 */
function serverOf(request: ApiRequest): string | undefined {
  const host = request.header('host') ?? ''
  return !isProxied(request) && /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(host) ? `http://${host}` : undefined
}

/** Loads the code for the OpenAPI document on demand, because most commands do not need it. */
async function documentOf(options: OpenApiOptions, server?: string): Promise<OpenApiDocument> {
  const { openApiDocument } = await import('../../src/openapi/index.ts')
  const document = openApiDocument(options)
  // Only the URL of the server becomes absolute. The links in examples stay relative, as the server sends them.
  const [{ url } = { url: '' }] = document.servers
  return server === undefined ? document : { ...document, servers: [{ url: new URL(url, server).href }] }
}

async function toYaml(document: OpenApiDocument): Promise<string> {
  return (await import('./yaml.ts')).toYaml(document)
}
