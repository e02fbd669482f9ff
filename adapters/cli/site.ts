import { originForm, pathOf } from '../../src/http/request-target.ts'
import type { ApiRequest, ApiResponse, PetStore } from '../../src/index.ts'

/** A page or a document of `petstore serve` outside the base path. It responds to GET and HEAD. */
export type SiteRoute = (request: ApiRequest) => ApiResponse | Promise<ApiResponse>

/** The routes by their path, such as `/health`. */
export type SiteRoutes = Readonly<Record<string, SiteRoute>>

/** Adds routes to a pet store. Requests to them need no key and are not counted. */
export function withSite(petStore: PetStore, routes: SiteRoutes): PetStore {
  const byPath = new Map(Object.entries(routes))
  const handle: PetStore['handle'] = async (request) => {
    const route = byPath.get(pathOf(originForm(request.target)))
    return route === undefined ? petStore.handle(request) : respond(route, request)
  }
  return { ...petStore, handle }
}

async function respond(route: SiteRoute, request: ApiRequest): Promise<ApiResponse> {
  const { method } = request
  if (method !== 'GET' && method !== 'HEAD') return { status: 405, headers: ['Allow', 'GET, HEAD'], body: '' }
  const { status, headers, body } = await route(request)
  return { status, headers: [...headers, 'X-Content-Type-Options', 'nosniff'], body: method === 'HEAD' ? '' : body }
}
