/** The parts of an OpenAPI document that the console reads. */
export interface OpenApiDocument {
  readonly info: { readonly description?: string }
  readonly components?: { readonly securitySchemes?: Readonly<Record<string, { readonly scheme?: string }>> }
}

interface Parameter {
  readonly in?: unknown
  readonly required?: boolean
  readonly description?: string
  readonly example?: unknown
  readonly examples?: unknown
  readonly schema?: { readonly default?: unknown }
}

/** Folds long texts, and removes the examples of optional parameters. */
export function consoleDocument(document: OpenApiDocument): OpenApiDocument {
  const [introduction = '', ...chapters] = (document.info.description ?? '').split(/^(?=## )/m)
  const folded = `<details><summary>Pages, limits and errors</summary>\n\n${chapters.join('')}\n\n</details>`
  const description = chapters.length === 0 ? introduction : introduction + folded
  // Otherwise, Swagger UI sends the examples and defaults of parameters that the visitor has not filled in.
  const text = JSON.stringify({ ...document, info: { ...document.info, description } })
  return JSON.parse(text, (_, value) => (isOptional(value) ? withoutValues(value) : value))
}

function isOptional(value: unknown): value is Parameter {
  const { in: place, schema, required } = Object(value) as Parameter
  return typeof place === 'string' && schema !== undefined && required !== true
}

function withoutValues({ example: _, examples: __, description = '', schema, ...others }: Parameter) {
  const { default: byDefault, ...bare } = { ...schema }
  const note = byDefault === undefined ? '' : ` By default ${byDefault}.`
  return { ...others, description: description + note, schema: bare }
}
