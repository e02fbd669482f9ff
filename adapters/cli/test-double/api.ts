import type { IRequest } from 'itty-router'
import { IttyRouter } from 'itty-router/IttyRouter'
import type * as z from 'zod/mini'
import { stringifyJson } from '../../../src/client/json.ts'
import { isPetStoreError, PetStoreError } from '../../../src/errors.ts'
import { fetchThrough } from '../../../src/http/fetch.ts'
import { originForm, pathOf } from '../../../src/http/request.ts'
import { errorResponse, jsonResponse } from '../../../src/http/response.ts'
import { type PathParameters, routerPath } from '../../../src/http/routes.ts'
import type { ApiRequest, ApiResponse, PetStore } from '../../../src/index.ts'
import { readJson } from '../../../src/pets/json.ts'
import { problemText } from '../../../src/schemas/expected.ts'
import { isFromThisMachine, isLoopback, isProxied, isSafeHost, isSecret } from '../page/visitor.ts'
import { controlDocument } from './document.ts'
import { type Operation, operations } from './operations.ts'
import type { TestDouble } from './test-double.ts'

/** The largest request body, in bytes. Ten thousand animals fit into it. */
const BODY_LIMIT = 4 * 1024 * 1024

const NO_STORE = ['Cache-Control', 'no-store']

export interface ControlAccess {
  /** The first segment of each path. */
  readonly secret: string
  /** The address that the control API listens on. Other machines may use it unless this is a loopback address. */
  readonly host: string
}

export function createControlApi(double: TestDouble, access: ControlAccess): PetStore {
  const router = createRouter(double, access.secret)
  const handle = (request: ApiRequest) => respond(router, request, access).catch(failureResponse)
  return { fetch: fetchThrough(handle), handle, basePath: '' }
}

type Router = ReturnType<typeof createRouter>

function createRouter(double: TestDouble, secret: string) {
  const router = IttyRouter<IRequest, [request: ApiRequest], ApiResponse>()
  router.get('/openapi.json', (_, request) =>
    jsonResponse(200, JSON.stringify(controlDocument(`http://${request.header('host')}/${secret}`))),
  )
  for (const operation of operations)
    router[operation.method]?.(routerPath(operation.path), ({ params, query }: IRequest, request: ApiRequest) =>
      carryOut(operation, double, request, params, query),
    )
  return router
}

function failureResponse(error: unknown): ApiResponse {
  const known = isPetStoreError(error) ? error : new PetStoreError('internal_error', String(error))
  const { code, message, status = 500 } = known
  if (code !== 'invalid_option') return jsonResponse(status, JSON.stringify({ code, message, status }))
  // The options come from the request body, so an invalid option is reported as an invalid body.
  return errorResponse(
    'invalid_body',
    [],
    withFlag(message).replace(/^option (\S+): e/, 'The body is not valid: $1: e'),
  )
}

/** Replaces the advice to add a plan to the options by one that names the flag of the command. */
function withFlag(message: string): string {
  const [before = '', advice] = message.split('(to add a plan, ', 2)
  if (advice === undefined) return message
  const [, after = ''] = advice.split(' to createPetStore)', 2)
  return `${before}(to add a plan, start petstore serve with --plan-limits)${after}`
}

const ONLY_THIS_MACHINE =
  'Expected a request from a program on this machine, to the address with the secret of this run or of --control-secret; got one ' +
  'without the secret, to a name other than localhost, from a web page, or through a proxy. For other machines, start petstore ' +
  'serve with --control-host.'

const ONLY_SAFE_HOSTS =
  'Expected a request from a program, with the secret of this run or of --control-secret in its path, to an IP address, a name ' +
  'without a dot or in .internal, .local, .localhost or .test, or the name of --control-host; got one without the secret, to ' +
  'another name, from a web page, or through a proxy.'

async function respond(router: Router, request: ApiRequest, { secret, host }: ControlAccess): Promise<ApiResponse> {
  const [, received, target = ''] = /^\/([^/?]*)(.*)$/s.exec(originForm(request.target)) ?? []
  // Without this check, any web page could reset the pet store. Browsers send `Origin` with a POST
  // to another site.
  const isForThisServer = isLoopback(host)
    ? isFromThisMachine(request)
    : isSafeHost(request, host) && !isProxied(request)
  if (!isSecret(received, secret) || !isForThisServer || request.header('origin') !== undefined)
    throw new PetStoreError('forbidden', isLoopback(host) ? ONLY_THIS_MACHINE : ONLY_SAFE_HOSTS, { status: 403 })
  const response = await router.fetch({ method: request.method, url: `http://localhost${target}` }, request)
  return response ?? unmatchedResponse(router, pathOf(target))
}

function unmatchedResponse({ routes }: Router, path: string): ApiResponse {
  const allow = routes.flatMap(([method, pattern]) => (pattern.test(path) ? [method] : [])).join(', ')
  if (allow) return errorResponse('method_not_allowed', ['Allow', allow], `The path ${path} supports only ${allow}.`)
  return errorResponse('route_not_found', [], `There is nothing at ${path}. GET /openapi.json lists the operations.`)
}

async function carryOut(
  operation: Operation,
  double: TestDouble,
  request: ApiRequest,
  { id = '' }: PathParameters,
  sentQuery: IRequest['query'],
): Promise<ApiResponse> {
  const query = operation.query && checked(operation.query, sentQuery, 'invalid_parameter')
  const bytes = operation.body ? await request.body(BODY_LIMIT) : new Uint8Array()
  const exactBody = operation.body && readJson(bytes)
  const body = operation.body && checked(operation.body, JSON.parse(new TextDecoder().decode(bytes)), 'invalid_body')
  const { signal } = request
  const result = await operation.run(double, { body, exactBody, query, id, signal })
  const { status, body: hasBody } = operation.response
  return hasBody ? jsonResponse(status, stringifyJson(result)) : { status, headers: NO_STORE, body: '' }
}

/**
 * Returns the parsed input, or throws an error with each wrong member, what was expected and what
 * was received.
 */
function checked(schema: z.ZodMiniType, input: unknown, code: string): unknown {
  const parsed = schema.safeParse(input)
  if (parsed.success) return parsed.data
  throw new PetStoreError(code, `${problemText(parsed.error)}. GET /openapi.json describes every operation.`)
}
