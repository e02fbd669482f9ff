import type { JsonSchema } from './json-schema.ts'

/** An Operation Object of OpenAPI, and its place in the API. */
interface PlacedOperation {
  readonly method: string
  /** The path, with parameters in braces: `/pets/{petId}`. */
  readonly path: string
  readonly operationId: string
  readonly summary: string
  readonly responses: Readonly<Record<number, { readonly description: string }>>
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
export function pathsOf(operations: readonly PlacedOperation[]): Record<string, Record<string, unknown>> {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const { method, path, ...operation } of operations)
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation }
  return paths
}

/** Returns the member `content` of a JSON body. */
export function jsonContent(body: { readonly schema: JsonSchema; readonly examples?: object }) {
  return { content: { 'application/json': body } }
}
