import { originForm, pathOf } from '../../../src/http/request.ts'
import { jsonResponse } from '../../../src/http/response.ts'
import type { ApiRequest, ApiResponse, PetStore, ReadyCheck } from '../../../src/index.ts'

/** A handler for a page or a document outside the base path. It gets only GET and HEAD requests. */
export type SiteRoute = (request: ApiRequest) => ApiResponse | Promise<ApiResponse>

export type SiteRoutes = Readonly<Record<string, SiteRoute>>

/** Adds routes that need no key and are not counted. */
export function withSite(petStore: PetStore, routes: SiteRoutes): PetStore {
  const byPath = new Map(Object.entries(routes))
  const handle: PetStore['handle'] = async (request) => {
    const route = request.rejection === undefined ? byPath.get(pathOf(originForm(request.target))) : undefined
    return route === undefined ? petStore.handle(request) : respond(route, request)
  }
  return { ...petStore, handle }
}

async function respond(route: SiteRoute, request: ApiRequest): Promise<ApiResponse> {
  const { method } = request
  if (method !== 'GET' && method !== 'HEAD') return { status: 405, headers: ['Allow', 'GET, HEAD'], body: '' }
  const response = await route(request)
  const headers = [...response.headers, 'X-Content-Type-Options', 'nosniff']
  return method === 'HEAD' ? { status: response.status, headers, body: '' } : { ...response, headers }
}

export function probeRoutes(checkReady: ReadyCheck, isClosing: () => boolean): SiteRoutes {
  return {
    '/health': () => jsonResponse(200, '{"status":"ok"}'),
    '/ready': async () => {
      if (isClosing()) return jsonResponse(503, '{"status":"closing","failing":[]}')
      const failing = await checkReady()
      const isReady = failing.length === 0
      return jsonResponse(isReady ? 200 : 503, JSON.stringify({ status: isReady ? 'ok' : 'unavailable', failing }))
    },
  }
}
