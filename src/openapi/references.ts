import { int64 as int64Schema } from '../schemas/int64.ts'
import { toJsonSchema } from '../schemas/json-schema.ts'

export function ref(schema: string) {
  return { $ref: `#/components/schemas/${schema}` }
}

/** Returns the member `content` of a JSON body with this component as its schema. */
export function json(schema: string, examples: object) {
  return { content: { 'application/json': { schema: ref(schema), examples } } }
}

export const int64 = toJsonSchema(int64Schema())
