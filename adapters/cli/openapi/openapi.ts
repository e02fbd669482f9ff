import { type ApiRequest, createPetStore, type PetStore } from '../../../src/index.ts'
import type { OpenApiDocument } from '../../../src/openapi/index.ts'
import type { SiteRoute } from '../../hosts/node/site.ts'
import { documentResponse, type SharedDocument, sharedDocument } from '../page/shared-document.ts'
import { isProxied } from '../page/visitor.ts'
import type { ServeFlags } from '../terminal/flags.ts'
import { print } from '../terminal/output.ts'

export interface OpenApiFlags extends Pick<ServeFlags, 'basePath' | 'planLimits'> {
  readonly publicUrl?: string
}

export async function runOpenApi({ planLimits, ...address }: OpenApiFlags): Promise<void> {
  const petStore = createPetStore({ ...address, plans: planLimits })
  await print(JSON.stringify(await documentOf(petStore), undefined, 2))
}

/**
 * Stands for the origin of the server in a text. Clients choose the `Host` header, so each text is
 * written once for all hosts.
 */
const ORIGIN = 'http://origin-of-the-request.invalid'

/**
 * Any web page may read the document: it contains no secret, and editors of OpenAPI documents are
 * web pages.
 */
export function documentRoute(petStore: PetStore): SiteRoute {
  const headers = ['Content-Type', 'application/json', 'Access-Control-Allow-Origin', '*']
  let written: Promise<SharedDocument> | undefined
  return async (request) => {
    written ??= documentOf(petStore, ORIGIN).then((document) => sharedDocument(JSON.stringify(document)))
    return documentResponse(withOrigin(await written, originOf(request)), request, headers)
  }
}

/**
 * Returns a document for an origin; for an empty text, the document contains only the path of the
 * API.
 */
function withOrigin({ bytes, tag }: SharedDocument, origin: string): SharedDocument {
  return {
    bytes: Buffer.from(bytes.toString().replaceAll(ORIGIN, origin)),
    tag: tag.replace(/"$/, `.${origin}"`),
  }
}

/**
 * Returns the origin that a request was sent to, because client generators need absolute URLs.
 * Returns an empty text behind a proxy: this server does not know whether clients use https there.
 */
function originOf(request: ApiRequest): string {
  const host = request.header('host') ?? ''
  const isKnown = !isProxied(request) && /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(host)
  return isKnown && URL.canParse(`http://${host}`) ? new URL(`http://${host}`).origin : ''
}

/**
 * Loads the code for the OpenAPI document on demand, because most commands do not need it. Without
 * a public URL, the URL of the server is a path: then `origin` precedes it. The links in examples stay
 * relative, as the server sends them.
 */
async function documentOf(petStore: PetStore, origin = ''): Promise<OpenApiDocument> {
  const { openApiDocument } = await import('../../../src/openapi/index.ts')
  const document = openApiDocument(petStore)
  const servers = document.servers.map(({ url }) => ({ url: url.startsWith('/') ? origin + url : url }))
  return { ...document, servers }
}
