import { IttyRouter } from 'itty-router/IttyRouter'
import type { Target } from './request.ts'
import { errorResponse, type OwnResponse } from './response.ts'

export const operationNames = ['listPets', 'createPet', 'getPet'] as const

export type OperationName = (typeof operationNames)[number]

export type Route =
  | { readonly kind: 'listPets' | 'createPet' }
  | { readonly kind: 'getPet'; readonly petId: string }
  | { readonly kind: 'options' | 'otherMethod'; readonly allow: string }
  | { readonly kind: 'unknown' }

type ToRoute = (request: { params: Record<string, string | undefined> }) => Route

const operations = createOperations()

/** Creates the routes in a function: at the top level, terser confuses the name `e` in itty-router with that of a `catch (e)`. */
function createOperations() {
  const router = IttyRouter()
  const listPets: Route = { kind: 'listPets' }
  const createPet: Route = { kind: 'createPet' }
  router.get('/pets', () => listPets)
  router.post('/pets', () => createPet)
  router.get('/pets/:petId', ({ params }): Route => ({ kind: 'getPet', petId: params.petId as string }))
  return router.routes.map(([method, pattern, [toRoute]]) => ({
    method,
    pattern,
    toRoute: toRoute as unknown as ToRoute,
  }))
}

/**
 * Finds the route of a method and a path below the base path, such as `/pets/7`. `router.fetch` is not used: it parses a URL for
 * each request, does not support HEAD, and does not list the methods for the `Allow` header.
 */
export function matchRoute(method: string, path: string): Route {
  if (path.endsWith('//')) return { kind: 'unknown' }
  const wanted = method === 'HEAD' ? 'GET' : method
  for (const { method: offered, pattern, toRoute } of operations) {
    const match = offered === wanted && pattern.exec(path)
    if (match) return toRoute({ params: match.groups ?? {} })
  }
  const others = operations.filter(({ pattern }) => pattern.test(path)).map(({ method: offered }) => offered)
  if (others.length === 0) return { kind: 'unknown' }
  return { kind: method === 'OPTIONS' ? 'options' : 'otherMethod', allow: allowHeader(others) }
}

/** Returns the `Allow` header of a path (RFC 9110, section 10.2.1). GET includes HEAD, and every path supports OPTIONS. */
function allowHeader(methods: readonly string[]): string {
  return [...methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])), 'OPTIONS'].join(', ')
}

/** Returns the response to a request that matches no operation: 204 to OPTIONS, otherwise 404 or 405. */
export function routeErrorResponse(
  route: Exclude<Route, { kind: OperationName }>,
  target: Target,
  basePath: string,
): OwnResponse {
  if (route.kind === 'options') return { status: 204, headers: ['Allow', route.allow], body: '' }
  if (route.kind === 'otherMethod')
    return errorResponse('method_not_allowed', ['Allow', route.allow], `This path supports only ${route.allow}.`)
  const hint = target.route === '' ? ` The API is at ${basePath}/pets.` : ''
  return errorResponse('route_not_found', [], `There is nothing at this path.${hint}`)
}
