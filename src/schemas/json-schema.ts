import * as z from 'zod/mini'

/**
 * Returns the JSON Schema of what a schema accepts (`input`), or of what it returns (`output`). An
 * int64 is an `integer` with a format.
 */
export function toJsonSchema(schema: z.core.$ZodType, io: 'input' | 'output' = 'input'): z.core.JSONSchema.BaseSchema {
  const { $schema, ...jsonSchema } = z.toJSONSchema(schema, { io, unrepresentable: 'any', override: correct })
  return jsonSchema
}

const correct: z.core.ToJSONSchemaParams['override'] = ({ zodSchema, jsonSchema }) => {
  if (zodSchema._zod.def.type === 'bigint') Object.assign(jsonSchema, { type: 'integer', format: 'int64' })
  // Zod adds the bounds of safe integers to integers without bounds.
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (zodSchema._zod.def.type === 'object') correctOthers(zodSchema as z.core.$ZodObject, jsonSchema)
}

/**
 * Says in JSON Schema whether an object may have other members. `optionsOf` rejects them by a check
 * that zod cannot describe. A loose object allows them, which is the default of JSON Schema.
 */
function correctOthers({ _zod: { def } }: z.core.$ZodObject, jsonSchema: z.core.JSONSchema.BaseSchema): void {
  if (def.catchall?._zod.def.type === 'custom') jsonSchema.additionalProperties = false
  else if (def.catchall?._zod.def.type === 'unknown') delete jsonSchema.additionalProperties
}
