import * as z from 'zod/mini'
import type { ResolvedOptions } from '../options.ts'
import { listQuerySchema } from '../pets/pagination.ts'
import { errorSchema, petSchema, statusSchema } from '../pets/schemas.ts'
import { PAGE } from './examples.ts'
import { type JsonSchema, queryJsonSchemas, toJsonSchemas } from './json-schema.ts'

/**
 * The schemas of request and response bodies. They have the names of the interface specification, except `PetToAdd`: generators for
 * Go give `Pet` a constructor `NewPet`, which would clash with a type `NewPet`.
 */
const bodies = ({ newPet, defaultStatus }: ResolvedOptions) => ({
  Pets: { schema: z.array(petSchema), description: 'A page of animals, by ascending id.' },
  Pet: { schema: petSchema, description: 'An animal of the catalogue.' },
  PetToAdd: {
    schema: defaultStatus === null ? newPet : z.extend(newPet, { status: z._default(statusSchema, defaultStatus) }),
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

/** Descriptions and examples of the query parameters of listPets, by name. */
const parameterTexts: Readonly<Record<string, { readonly description: string; readonly example: unknown }>> = {
  limit: { description: 'The largest number of animals to return.', example: 2 },
  status: { description: 'Returns only animals with this status.', example: 'available' },
  cursor: {
    description: 'The value of `X-Next-Cursor` in the response before: returns the page that follows it.',
    example: PAGE.nextCursor,
  },
}

/** Returns the schemas of bodies, by name. They allow additional members. */
export function bodySchemas(options: ResolvedOptions): Record<string, JsonSchema> {
  const all = Object.entries(bodies(options))
  const schemas = toJsonSchemas(Object.fromEntries(all.map(([name, { schema }]) => [name, schema])), 'input')
  return Object.fromEntries(all.map(([name, { description }]) => [name, { description, ...described(schemas[name]) }]))
}

/** Returns the query parameters of listPets. */
export function queryParameters() {
  const schemas = queryJsonSchemas(listQuerySchema, { PetStatus: statusSchema })
  return Object.entries(schemas).map(([name, schema]) => ({
    name,
    in: 'query',
    ...parameterTexts[name],
    schema,
    required: false,
  }))
}

/** Adds descriptions to the members, but not beside `$ref`, where some generators do not support them. */
function described({ properties, ...schema }: JsonSchema = {}): JsonSchema {
  if (properties === undefined) return schema
  const members = Object.entries(properties as Record<string, JsonSchema>).map(([name, value]) => [
    name,
    '$ref' in value ? value : { ...value, ...memberTexts[name] },
  ])
  return { ...schema, properties: Object.fromEntries(members) }
}
