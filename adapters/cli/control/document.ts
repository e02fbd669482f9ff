import * as z from 'zod/mini'
import { operations } from './operations.ts'
import { jsonSchemaOf } from './schemas.ts'

const error = z.object({
  code: z.string().check(z.describe('What went wrong, for programs.')),
  message: z.string().check(z.describe('What went wrong, what was expected and what was received.')),
  status: z.int(),
})

export function controlDocument() {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const { method, path, id, summary, body, query, response, errors = {} } of operations) {
    const item = paths[path] ?? {}
    paths[path] = item
    const parameters = [
      ...(path.includes('{id}') ? [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }] : []),
      ...(query ? queryParameters(query) : []),
    ]
    const invalid = body || query ? { 400: 'The request is not valid.' } : {}
    const failures = { ...invalid, 403: 'A web page or a proxy has sent the request.', ...errors }
    item[method.toLowerCase()] = {
      operationId: id,
      summary,
      ...(parameters.length > 0 && { parameters }),
      ...(body && { requestBody: { required: true, content: { 'application/json': { schema: jsonSchemaOf(body) } } } }),
      responses: {
        [response.status]: {
          description: response.description,
          ...(response.body && { content: { 'application/json': { schema: jsonSchemaOf(response.body) } } }),
        },
        ...Object.fromEntries(
          Object.entries(failures).map(([status, description]) => [
            status,
            { description, content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } },
          ]),
        ),
      },
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Pet store test double',
      version: '1.0.0',
      description:
        'Steers a pet store in memory from tests in any language. Only programs on the same machine can use it.',
    },
    servers: [{ url: '/' }],
    paths,
    components: { schemas: { Error: jsonSchemaOf(error) } },
  }
}

function queryParameters(query: z.ZodMiniObject) {
  const { properties = {}, required = [] } = jsonSchemaOf(query) as {
    properties?: Record<string, unknown>
    required?: string[]
  }
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }))
}
