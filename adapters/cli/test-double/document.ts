import * as z from 'zod/mini'
import { toJsonSchema } from '../../../src/schemas/json-schema.ts'
import { type Operation, operations } from './operations.ts'

const json = (schema: object) => ({ content: { 'application/json': { schema } } })
const failure = (description: string) => ({ description, ...json({ $ref: '#/components/schemas/Error' }) })

/**
 * @param address - the URL of the control API, with its secret: `http://127.0.0.1:3001/<secret>`
 */
export function controlDocument(address: string) {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of operations)
    paths[operation.path] = { ...paths[operation.path], [operation.method.toLowerCase()]: operationObject(operation) }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Pet store test double',
      version: '1.0.0',
      description: 'Steers a pet store in memory from tests in any language.',
      contact: { name: 'petstore-kit', url: 'https://github.com/petstore-kit/petstore-kit/issues' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: address }],
    security: [],
    paths,
    components: {
      schemas: {
        Error: {
          type: 'object',
          properties: {
            code: { type: 'string', description: 'What went wrong, as a code for programs.' },
            message: { type: 'string', description: 'What went wrong, what was expected and what was received.' },
            status: { type: 'integer' },
          },
          required: ['code', 'message', 'status'],
        },
      },
    },
  }
}

function operationObject({ path, id, summary, body, query, pathId = z.string(), response, errors = {} }: Operation) {
  const parameters = [
    ...(path.includes('{id}') ? [{ in: 'path', name: 'id', schema: toJsonSchema(pathId), required: true }] : []),
    ...Object.entries(query?.shape ?? {}).map(([name, schema]) => ({
      in: 'query',
      name,
      // In a query, each value is a text. The document describes the parsed value.
      schema: toJsonSchema(schema, 'output'),
      required: false,
    })),
  ]
  return {
    operationId: id,
    summary,
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: true, ...json(toJsonSchema(body)) } }),
    responses: {
      [response.status]: {
        description: response.description,
        ...(response.body && json(toJsonSchema(response.body))),
      },
      ...((body || query) && { 400: failure('The request is not valid.') }),
      403: failure('The secret is missing, the request is for another host, or a web page or a proxy has sent it.'),
      ...Object.fromEntries(Object.entries(errors).map(([status, text]) => [status, failure(text)])),
    },
  }
}
