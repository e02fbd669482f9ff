import type { JsonSchema } from './json-schema.ts'

/** An operation of an API. */
export interface OperationDescription {
  readonly method: string
  /** The path, with parameters in braces: `/pets/{petId}`. */
  readonly path: string
  readonly operationId: string
  readonly tags?: readonly string[]
  readonly summary: string
  readonly description?: string
  readonly deprecated?: true
  readonly parameters?: readonly Parameter[]
  /** The JSON body that the operation requires. */
  readonly requestBody?: JsonBody
  readonly responses: Readonly<Record<number, ResponseDescription>>
}

/** A parameter. Those of a path are required, and others are not. */
interface Parameter {
  readonly in: 'path' | 'query' | 'header'
  readonly name: string
  readonly description?: string | undefined
  readonly schema: JsonSchema
  readonly example?: unknown
}

interface JsonBody {
  readonly schema: JsonSchema
  readonly examples?: Readonly<Record<string, object>>
}

interface ResponseDescription {
  readonly description: string
  readonly headers?: object | undefined
  readonly body?: JsonBody | undefined
  readonly links?: object | undefined
}

/** The parts of an OpenAPI document that are the same for the service and for the control port. */
export function openApiFrame(title: string, description: string) {
  return {
    openapi: '3.1.0',
    info: {
      title,
      version: '1.0.0',
      description,
      contact: { name: 'petstore-kit', url: 'https://github.com/petstore-kit/petstore-kit/issues' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
  }
}

/** Returns the member `paths` of an OpenAPI document. */
export function pathsOf(operations: readonly OperationDescription[]): Record<string, Record<string, unknown>> {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const { method, path, requestBody, responses, parameters = [], ...texts } of operations) {
    const operation = {
      ...texts,
      ...(parameters.length > 0 && { parameters: parameters.map(parameterObject) }),
      ...(requestBody && { requestBody: { required: true, content: jsonContent(requestBody) } }),
      responses: Object.fromEntries(
        Object.entries(responses).map(([status, { body, ...response }]) => [
          status,
          { ...response, ...(body && { content: jsonContent(body) }) },
        ]),
      ),
    }
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation }
  }
  return paths
}

function parameterObject(parameter: Parameter) {
  return { ...parameter, required: parameter.in === 'path' }
}

function jsonContent(body: JsonBody) {
  return { 'application/json': body }
}
