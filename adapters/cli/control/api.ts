import type * as z from 'zod/mini'
import { isPetStoreError } from '../../../src/errors.ts'
import { originForm, pathOf } from '../../../src/http/request.ts'
import { errorResponse, jsonResponse } from '../../../src/http/response.ts'
import type { ApiRequest, ApiResponse, PetStore } from '../../../src/index.ts'
import { fetchThrough } from '../../../src/pet-store.ts'
import { readJson } from '../../../src/pets/json.ts'
import { shorten } from '../../../src/support/describe-value.ts'
import { isFromThisMachine } from '../page/routes.ts'
import { isSecret } from '../secret.ts'
import { controlDocument } from './document.ts'
import { type Operation, operations, problem } from './operations.ts'
import type { TestDouble } from './test-double.ts'

/** The largest request body, in bytes. Ten thousand animals fit into it. */
const BODY_LIMIT = 4 * 1024 * 1024

/**
 * Creates the control API of a test double. The result has the type of a pet store, so `serve` can serve it.
 *
 * @param secret - the first segment of each path
 */
export function createControlApi(double: TestDouble, secret: string): PetStore {
  const handle = async (request: ApiRequest): Promise<ApiResponse> => {
    try {
      return await respond(double, request, secret)
    } catch (error) {
      if (!isPetStoreError(error)) return problem(500, 'internal_error', String(error))
      // The options come from the request body, so an invalid option is reported as an invalid body.
      if (error.code === 'invalid_option')
        return problem(400, 'invalid_body', error.message.replace(/^option (\S+): e/, 'The body is not valid: $1: e'))
      return problem(error.status ?? 500, error.code, error.message)
    }
  }
  return { fetch: fetchThrough(handle), handle, basePath: '' }
}

async function respond(double: TestDouble, request: ApiRequest, secret: string): Promise<ApiResponse> {
  const [, received, target = ''] = /^\/([^/?]*)(.*)$/s.exec(originForm(request.target)) ?? []
  // Without this check, any web page could reset the pet store. With a POST to another site, browsers send `Origin`.
  if (!isSecret(received, secret) || !isFromThisMachine(request) || request.header('origin') !== undefined)
    return problem(
      403,
      'forbidden',
      'Expected a request of a program on this machine, to the address that petstore serve has printed with its secret; got one ' +
        'without the secret, of a web page or of a proxy.',
    )
  const path = pathOf(target)
  if (path === '/openapi.json' && request.method === 'GET')
    return jsonResponse(200, JSON.stringify(controlDocument(`http://${request.header('host')}/${secret}`)))
  const matches = operations.flatMap((operation) => {
    const id = parameterOf(operation, path)
    return id === undefined ? [] : [{ operation, id }]
  })
  const match = matches.find(({ operation }) => operation.method === request.method)
  if (match === undefined) return noOperation(path, matches)
  const { operation, id } = match
  const query = operation.query && checkQuery(operation.query, target.slice(path.length + 1))
  if (query?.error) return errorResponse('invalid_parameter', [], query.error)
  const bytes = operation.body ? await request.body(BODY_LIMIT) : new Uint8Array()
  const exactBody = operation.body && readJson(bytes)
  const body = operation.body && JSON.parse(new TextDecoder().decode(bytes))
  const checked = operation.body?.safeParse(body)
  if (checked?.error) return errorResponse('invalid_body', [], problemOf(checked.error, body))
  return operation.run(double, { body: checked?.data, exactBody, query: query?.data, id })
}

/** Returns the parameter in a path; '' if the path has none; `undefined` if the path does not match the operation. */
function parameterOf({ path }: Operation, actual: string): string | undefined {
  const [prefix = '', rest] = path.split('{id}')
  if (rest === undefined) return actual === path ? '' : undefined
  const id = actual.slice(prefix.length)
  return actual.startsWith(prefix) && /^[\w-]+$/.test(id) ? id : undefined
}

function noOperation(path: string, matches: readonly { readonly operation: Operation }[]): ApiResponse {
  if (matches.length === 0)
    return errorResponse('route_not_found', [], `There is nothing at ${path}. GET /openapi.json lists the operations.`)
  const allow = matches.map(({ operation }) => operation.method).join(', ')
  return errorResponse('method_not_allowed', ['Allow', allow], `The path ${path} supports only ${allow}.`)
}

function checkQuery(schema: z.ZodMiniObject, text: string): { readonly data?: unknown; readonly error?: string } {
  const query = Object.fromEntries(new URLSearchParams(text))
  const { data, error } = schema.safeParse(query)
  return error ? { error: problemOf(error, query) } : { data }
}

/** The longest excerpt of a body in an error message, in UTF-16 code units. */
const MAX_RECEIVED = 200

/** Returns the first problem in a body or a query: its place, what was expected and what was received. */
function problemOf({ issues }: z.core.$ZodError, input: unknown): string {
  const [{ path, message } = { path: [], message: 'another value' }] = issues
  let received: unknown = input
  for (const name of path) received = (received as Record<PropertyKey, unknown> | undefined)?.[name]
  const text = JSON.stringify(received) ?? 'nothing'
  const place = path.length === 0 ? '' : `${path.join('.')}: `
  return `${place}expected ${message}, got ${shorten(text, MAX_RECEIVED)}. GET /openapi.json describes every operation.`
}
