import type * as z from 'zod/mini'
import type { NewPet, Pet } from '../model.ts'
import { errorBody } from '../schemas/error.ts'
import { int64 as int64Schema } from '../schemas/int64.ts'
import { toJsonSchema } from '../schemas/json-schema.ts'
import { type NewPetRules, newPet, pet, petStatus } from '../schemas/pet.ts'

/** The texts and examples of each member. The rules come from the schemas. */
type MemberTexts<Member extends PropertyKey> = Readonly<Record<Member, object>>

const name = { description: 'The name. At least one character is not white space.', examples: ['Rex'] }
const categoryId = {
  description: 'The identifier of the category to which the animal belongs.',
  examples: [1],
}
// No description beside `$ref`: some generators do not support it.
const status = {}

const petTexts: MemberTexts<keyof Pet> = {
  id: { description: 'The unique identifier, which the service assigns.', examples: [7] },
  name,
  categoryId,
  status,
}
const newPetTexts: MemberTexts<keyof NewPet> = { name, categoryId, status }
const errorTexts: MemberTexts<keyof z.infer<typeof errorBody>> = {
  code: { description: 'What went wrong, for programs. Expect codes that this document does not list.' },
  message: { description: 'What went wrong, for people.' },
  status: { description: 'The HTTP status of the response.' },
}

/**
 * Returns the schemas of the document, made from the schemas that check the data. They have the
 * names of the interface specification, but its `NewPet` is `PetToAdd` here: generators for Go give
 * the name `NewPet` to the constructor of `Pet`.
 */
export function componentSchemas(rules: NewPetRules): Record<string, object> {
  return {
    Pets: { description: 'A page of animals, by ascending id.', type: 'array', items: ref('Pet') },
    Pet: withSharedStatus(component(pet, 'An animal of the catalogue.', petTexts)),
    PetToAdd: withSharedStatus(component(newPet(rules), 'An animal to add. Other members are ignored.', newPetTexts)),
    PetStatus: { description: 'The availability of an animal.', ...toJsonSchema(petStatus()) },
    Error: component(errorBody, 'An error. All error responses have this form.', errorTexts),
  }
}

type ObjectSchema = z.core.JSONSchema.BaseSchema & { readonly properties: Record<string, object> }

function component(schema: z.ZodMiniType, description: string, texts: MemberTexts<string>): ObjectSchema {
  const { properties = {}, ...others } = toJsonSchema(schema)
  const described = Object.entries(properties).map(([name, rules]) => [name, { ...Object(rules), ...texts[name] }])
  return { description, ...others, properties: Object.fromEntries(described) }
}

/**
 * Replaces the statuses by a reference to the component `PetStatus`, so that generators create one
 * type.
 */
function withSharedStatus(schema: ObjectSchema): ObjectSchema {
  const { default: value } = schema.properties.status as { default?: string }
  const shared = { ...(value !== undefined && { default: value }), ...ref('PetStatus') }
  return { ...schema, properties: { ...schema.properties, status: shared } }
}

export function ref(schema: string) {
  return { $ref: `#/components/schemas/${schema}` }
}

/** Returns the member `content` of a JSON body with this component as its schema. */
export function json(schema: string, examples: object) {
  return { content: { 'application/json': { schema: ref(schema), examples } } }
}

export const int64 = toJsonSchema(int64Schema())
