export function ref(schema: string) {
  return { $ref: `#/components/schemas/${schema}` }
}

/** Returns the member `content` of a JSON body with this component as its schema. */
export function json(schema: string, examples: object) {
  return { content: { 'application/json': { schema: ref(schema), examples } } }
}

export const int64 = { type: 'integer', format: 'int64' }
