import * as z from 'zod/mini'

/** A JSON Schema of draft 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** Schemas by name. */
type NamedSchemas = Readonly<Record<string, z.ZodMiniType>>

/** Returns a reference to a schema in an OpenAPI document. */
export function schemaRef(name: string): string {
  return `#/components/schemas/${name}`
}

/** Returns the JSON Schema of the values that a schema accepts. */
export function toJsonSchema(schema: z.ZodMiniType): JsonSchema {
  const { value = {} } = toJsonSchemas({ value: schema }, 'input')
  return value
}

/**
 * Converts schemas to JSON Schemas that refer to each other by name.
 *
 * @param io - whether to describe what a schema accepts (`input`) or what it returns (`output`)
 */
export function toJsonSchemas(named: NamedSchemas, io: 'input' | 'output'): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id })
  const { schemas } = z.toJSONSchema(registry, { uri: schemaRef, io, unrepresentable: 'any', override: toInteger })
  return Object.fromEntries(Object.entries(schemas).map(([name, { $schema, $id, ...schema }]) => [name, schema]))
}

/**
 * Returns the JSON Schemas of query parameters, by name. In a query, each parameter is a text; the JSON Schema describes the value
 * that the text stands for.
 *
 * @param components - schemas to which the parameters refer by name
 */
export function queryJsonSchemas(query: z.ZodMiniObject, components: NamedSchemas = {}): Record<string, JsonSchema> {
  const named = { ...components, ...(query.shape as NamedSchemas) }
  const values = toJsonSchemas(named, 'output')
  const texts = toJsonSchemas(named, 'input')
  // zod cannot describe the output of a transform, so such a parameter gets the schema of its input, a string.
  const schemaOf = (name: string) => (Object.keys(values[name] ?? {}).length === 0 ? texts[name] : values[name])
  return Object.fromEntries(Object.keys(query.shape).map((name) => [name, schemaOf(name) ?? {}]))
}

/** Describes each `bigint` schema as a JSON integer of 64 bits. */
const toInteger: z.core.ToJSONSchemaParams['override'] = ({ zodSchema, jsonSchema }) => {
  // No bounds are set: the format implies them, and JavaScript numbers cannot hold them exactly.
  if (zodSchema._zod.def.type === 'bigint') Object.assign(jsonSchema, { type: 'integer', format: 'int64' })
  // zod adds the bounds of safe integers. With these bounds, client generators use 64 bits for an HTTP status.
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
}
