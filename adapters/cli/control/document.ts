import * as z from 'zod/mini'
import { queryJsonSchemas, schemaRef, toJsonSchema } from '../../../src/openapi/json-schema.ts'
import { jsonContent, openApiFrame, pathsOf } from '../../../src/openapi/writer.ts'
import { operations } from './operations.ts'

const error = z.object({
  code: z.string().check(z.describe('What went wrong, for programs.')),
  message: z.string().check(z.describe('What went wrong, what was expected and what was received.')),
  status: z.int(),
})

/**
 * Returns the OpenAPI document of the control API.
 *
 * @param address - the address of the control API, with its secret: `http://127.0.0.1:3001/<secret>`
 */
export function controlDocument(address: string) {
  return {
    ...openApiFrame(
      'Pet store test double',
      'Steers a pet store in memory from tests in any language. Only programs on the same machine can use it.',
    ),
    servers: [{ url: address }],
    // No request needs a key.
    security: [],
    paths: pathsOf(operations.map(descriptionOf)),
    components: { schemas: { Error: toJsonSchema(error) } },
  }
}

function descriptionOf({ method, path, id, summary, body, query, response, errors }: (typeof operations)[number]) {
  const queryParameters = query ? Object.entries(queryJsonSchemas(query)) : []
  const parameters = [
    ...(path.includes('{id}') ? [{ in: 'path', name: 'id', schema: { type: 'string' }, required: true }] : []),
    ...queryParameters.map(([name, schema]) => ({ in: 'query', name, schema, required: false })),
  ]
  const failures = {
    ...((body || query) && { 400: 'The request is not valid.' }),
    403: 'The secret is missing, or a web page or a proxy has sent the request.',
    ...errors,
  }
  return {
    method,
    path,
    operationId: id,
    summary,
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: true, ...jsonContent({ schema: toJsonSchema(body) }) } }),
    responses: {
      [response.status]: {
        description: response.description,
        ...(response.body && jsonContent({ schema: toJsonSchema(response.body) })),
      },
      ...Object.fromEntries(
        Object.entries(failures).map(([status, description]) => [
          status,
          { description, ...jsonContent({ schema: { $ref: schemaRef('Error') } }) },
        ]),
      ),
    },
  }
}
