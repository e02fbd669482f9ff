import { IttyRouter } from 'itty-router/IttyRouter'
import { isBelow, originForm, pathOf } from '../../../src/http/request.ts'
import { jsonResponse } from '../../../src/http/response.ts'
import type { PathParameters } from '../../../src/http/routes.ts'
import type { ApiRequest, ApiResponse, MaybePromise, PetStore, ReadyCheck } from '../../../src/index.ts'

/**
 * A handler for a page or a document outside the base path. It gets only GET and HEAD requests. If it returns `undefined`, the pet
 * store responds.
 */
export type SiteRoute = (request: ApiRequest, parameters: PathParameters) => MaybePromise<ApiResponse | undefined>

/** Handlers by their paths, in the notation of itty-router, such as `/page/:name`. */
export type SiteRoutes = Readonly<Record<string, SiteRoute>>

/** Adds routes that need no key and are not counted. */
export function withSite(petStore: PetStore, routes: SiteRoutes): PetStore {
  const router = IttyRouter()
  for (const [path, route] of Object.entries(routes))
    router.all(path, ({ params }, request: ApiRequest) => respond(route, request, params))
  const { basePath } = petStore

  const handle: PetStore['handle'] = async (request) => {
    const target = originForm(request.target)
    // `router.fetch` parses a URL for each request, which would slow down the API.
    const isOfApi = basePath !== '' && isBelow(pathOf(target), basePath)
    if (request.rejection !== undefined || isOfApi || !target.startsWith('/')) return petStore.handle(request)
    const response: ApiResponse | undefined = await router.fetch(
      { method: request.method, url: `http://localhost${target}` },
      request,
    )
    return response ?? petStore.handle(request)
  }
  return { ...petStore, handle }
}

async function respond(route: SiteRoute, request: ApiRequest, parameters: PathParameters) {
  const { method } = request
  if (method !== 'GET' && method !== 'HEAD') return { status: 405, headers: ['Allow', 'GET, HEAD'], body: '' }
  const response = await route(request, parameters)
  if (response === undefined) return undefined
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
