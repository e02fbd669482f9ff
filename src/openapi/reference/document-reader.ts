export type Json = Readonly<Record<string, unknown>>

export interface DocumentedOperation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly summary: string
  readonly description: string
  readonly isDeprecated: boolean
  readonly parameters: readonly Json[]
  readonly requestBody: Json | undefined
  readonly responses: readonly DocumentedResponse[]
}

export interface DocumentedResponse {
  readonly status: string
  readonly description: string
  readonly headers: readonly (readonly [string, Json])[]
  readonly content: Json | undefined
}

const BOUNDS = {
  minimum: 'at least %',
  maximum: 'at most %',
  maxLength: 'at most % characters',
  default: 'default %',
}

export class DocumentReader {
  readonly #document: Json

  constructor(document: Json) {
    this.#document = document
  }

  /** Replaces a reference by the object to which it refers. */
  resolve(value: unknown): Json {
    const reference = Object(value).$ref
    if (typeof reference !== 'string') return Object(value)
    let found: unknown = this.#document
    for (const name of reference.split('/').slice(1))
      found = Object(found)[name.replaceAll('~1', '/').replaceAll('~0', '~')]
    const { $ref: _, ...beside } = Object(value)
    return { ...this.resolve(found), ...(beside as Json) }
  }

  /** Returns the name of the schema to which an object refers. */
  nameOf(value: unknown): string | undefined {
    const reference = Object(value).$ref
    return typeof reference === 'string' ? reference.split('/').at(-1) : undefined
  }

  operations(): DocumentedOperation[] {
    return Object.entries(Object(this.#document.paths)).flatMap(([path, item]) =>
      Object.entries(Object(item)).map(([method, value]) =>
        this.#operation(method.toUpperCase(), path, this.resolve(value)),
      ),
    )
  }

  #operation(method: string, path: string, operation: Json): DocumentedOperation {
    return {
      id: textOf(operation.operationId),
      method,
      path,
      summary: textOf(operation.summary),
      description: textOf(operation.description),
      isDeprecated: operation.deprecated === true,
      parameters: listOf(operation.parameters).map((parameter) => this.resolve(parameter)),
      requestBody: this.#jsonOf(this.resolve(operation.requestBody)),
      responses: Object.entries(Object(operation.responses)).map(([status, value]) => {
        const response = this.resolve(value)
        return {
          status,
          description: textOf(response.description),
          headers: Object.entries(Object(response.headers)).map(
            ([name, header]) => [name, this.resolve(header)] as const,
          ),
          content: this.#jsonOf(response),
        }
      }),
    }
  }

  #jsonOf({ content }: Json): Json | undefined {
    return Object(content)['application/json']
  }

  exampleOf(content: Json): unknown {
    if ('example' in content) return content.example
    const examples = Object.values(Object(content.examples)).map((example) => this.resolve(example).value)
    return examples.at(-1)
  }

  /** Returns the type, values and bounds of a schema in words. */
  typeOf(schema: unknown): string {
    const { type, format, items, enum: values, const: constant, ...bounds } = this.resolve(schema)
    const limits = Object.entries(BOUNDS).flatMap(([key, text]) =>
      key in bounds ? text.replace('%', `${bounds[key]}`) : [],
    )
    const name =
      type === 'array'
        ? `array of ${this.nameOf(items) ?? this.typeOf(items)}`
        : [type, format].filter(Boolean).join(' ')
    const onlyValue = constant === undefined ? name : String(constant)
    const kind = Array.isArray(values) ? values.join(', ') : onlyValue
    return [kind, ...limits].join('; ')
  }
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
