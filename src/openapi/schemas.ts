import * as z from 'zod/mini'
import { DEFAULT_MAX_NAME_LENGTH } from '../options.ts'
import { errorSchema, listQuerySchema, newPetSchema, petSchema, statusSchema } from '../pets/schemas.ts'

/** A JSON Schema of draft 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** Returns the schemas of request and response bodies, by their names in the interface specification. */
const bodies = () => ({
  Pets: { schema: z.array(petSchema), description: 'A page of animals, by ascending id.' },
  Pet: { schema: petSchema, description: 'An animal of the catalogue.' },
  NewPet: {
    schema: newPetSchema(DEFAULT_MAX_NAME_LENGTH),
    description: 'An animal to add. Other members are ignored.',
  },
  PetStatus: { schema: statusSchema, description: 'The availability of an animal.' },
  Error: { schema: errorSchema, description: 'An error. All error responses have this form.' },
})

/** Descriptions of the members of bodies, by member name. */
const memberTexts: Readonly<Record<string, JsonSchema>> = {
  id: { description: 'The unique identifier, which the service assigns.', examples: [7] },
  name: { description: 'The name. At least one character is not white space.', examples: ['Rex'] },
  categoryId: { description: 'The identifier of the category to which the animal belongs.', examples: [1] },
  code: { description: 'What went wrong, for programs. Expect codes that this document does not list.' },
  message: { description: 'What went wrong, for people.' },
  status: { description: 'The HTTP status of the response.' },
}

/** Descriptions of the query parameters of listPets, by name. */
const parameterTexts: Readonly<Record<string, string>> = {
  limit: 'The largest number of animals to return.',
  status: 'Returns only animals with this status.',
  cursor: 'The value of `X-Next-Cursor` in the response before: returns the page that follows it.',
}

/** Returns the schemas of bodies, by name. They allow additional members. */
export function bodySchemas(): Record<string, JsonSchema> {
  const all = Object.entries(bodies())
  const schemas = toJsonSchemas(Object.fromEntries(all.map(([name, { schema }]) => [name, schema])), 'input')
  return Object.fromEntries(all.map(([name, { description }]) => [name, { description, ...described(schemas[name]) }]))
}

/** Returns the query parameters of listPets. */
export function queryParameters() {
  const schemas = { PetStatus: statusSchema, ...listQuerySchema.shape }
  const { PetStatus, ...values } = toJsonSchemas(schemas, 'output')
  const texts = toJsonSchemas(schemas, 'input')
  return Object.entries(values).map(([name, value]) => {
    // zod cannot describe the output of a transform, so `cursor` gets the schema of its input, a string.
    const schema = Object.keys(value).length === 0 ? texts[name] : value
    return { name, in: 'query', description: parameterTexts[name], schema }
  })
}

/** Returns a reference to a schema in the OpenAPI document. */
export function schemaRef(name: string): string {
  return `#/components/schemas/${name}`
}

/**
 * Converts schemas to JSON Schemas that refer to each other by name.
 *
 * @param io - whether to describe what a schema accepts (`input`) or what it returns (`output`)
 */
function toJsonSchemas(named: Readonly<Record<string, z.ZodMiniType>>, io: 'input' | 'output') {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(named)) registry.add(schema, { id })
  const { schemas } = z.toJSONSchema(registry, { uri: schemaRef, io, unrepresentable: 'any', override: toInteger })
  return Object.fromEntries(Object.entries(schemas).map(([name, { $schema, $id, ...schema }]) => [name, schema]))
}

/** Describes each `bigint` schema as a JSON integer of 64 bits. */
function toInteger({
  zodSchema,
  jsonSchema,
}: {
  zodSchema: z.core.$ZodTypes
  jsonSchema: z.core.JSONSchema.BaseSchema
}) {
  // No bounds are set: the format implies them, and JavaScript numbers cannot hold them exactly.
  if (zodSchema._zod.def.type === 'bigint') Object.assign(jsonSchema, { type: 'integer', format: 'int64' })
  // zod adds the bounds of safe integers. With these bounds, client generators use 64 bits for an HTTP status.
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
}

/** Adds descriptions to the members, but not beside `$ref`, where some generators do not support them. */
function described({ properties, ...schema }: z.core.JSONSchema.BaseSchema = {}): JsonSchema {
  if (properties === undefined) return schema
  const members = Object.entries(properties).map(([name, value]) => [
    name,
    '$ref' in Object(value) ? value : { ...Object(value), ...memberTexts[name] },
  ])
  return { ...schema, properties: Object.fromEntries(members) }
}
