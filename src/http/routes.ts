import { IttyRouter } from 'itty-router/IttyRouter'
import type { ApiResponse } from './response.ts'
import { errorReply } from './response.ts'

/** What a request asks for: an operation, the methods of a known path, or nothing that there is. */
export type Route =
  | { readonly kind: 'listPets' | 'createPet' }
  | { readonly kind: 'getPet'; readonly petId: string }
  | { readonly kind: 'options' | 'otherMethod'; readonly allow: string }
  | { readonly kind: 'unknown' }

/** The operations' names, as the contract has them. */
export type OperationName = 'listPets' | 'createPet' | 'getPet'

type Resolve = (request: { params: Record<string, string | undefined> }) => Route

const table = compile()

/** In a function: where a bundle's outermost scope has a `catch (e)`, terser loses what is called there as itty-router's `e`. */
function compile() {
  const router = IttyRouter()
  router.get('/pets', (): Route => ({ kind: 'listPets' }))
  router.post('/pets', (): Route => ({ kind: 'createPet' }))
  router.get('/pets/:petId', ({ params }): Route => ({ kind: 'getPet', petId: params.petId ?? '' }))
  return router.routes
}

/**
 * Finds what a method on a path asks for. The path stands below the base path, such as `/pets/7`.
 *
 * It walks the router's own table of compiled patterns: the router's `fetch` would parse a URL for each request, and
 * knows neither HEAD nor which other methods a path takes.
 */
export function matchRoute(method: string, path: string): Route {
  if (path.endsWith('//')) return { kind: 'unknown' }
  const wanted = method === 'HEAD' ? 'GET' : method
  for (const [offered, pattern, [resolve], text] of table) {
    // The text that most requests bring: it takes no pattern to know it.
    const match = offered === wanted && (path === text || pattern.exec(path))
    if (match) return (resolve as unknown as Resolve)({ params: (match as Partial<RegExpExecArray>).groups ?? {} })
  }
  const others = table.filter(([, pattern]) => pattern.test(path)).map(([offered]) => offered)
  if (others.length === 0) return { kind: 'unknown' }
  return { kind: method === 'OPTIONS' ? 'options' : 'otherMethod', allow: allowHeader(others) }
}

/** The methods of a path (RFC 9110, section 10.2.1): HEAD goes with GET, and OPTIONS with every path. */
function allowHeader(methods: readonly string[]): string {
  return [...methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])), 'OPTIONS'].join(', ')
}

/** Answers a request that names no operation. */
export function noOperation(route: Exclude<Route, { kind: OperationName }>): ApiResponse {
  if (route.kind === 'unknown') return errorReply('route_not_found')
  if (route.kind === 'options') return { status: 204, headers: ['Allow', route.allow], body: '' }
  return errorReply('method_not_allowed', ['Allow', route.allow], `This path takes only ${route.allow}.`)
}
