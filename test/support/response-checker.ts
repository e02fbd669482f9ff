import { Ajv2020 } from 'ajv/dist/2020.js'
import type { OpenApiDocument } from '../../src/openapi/index.ts'

/** A request and its response. */
export interface CheckedExchange {
  readonly method: string
  /** The path below the base path, such as `/pets/7`. */
  readonly path: string
  readonly status: number
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

interface Header {
  readonly required?: boolean
  readonly schema: { readonly type: string }
}

interface DeclaredResponse {
  readonly headers: Readonly<Record<string, { readonly $ref: string }>>
  readonly content: { readonly 'application/json': { readonly schema: { $ref: string }; readonly examples?: object } }
}

type Operation = { readonly responses: Readonly<Record<string, DeclaredResponse>> }

/**
 * Headers that the OpenAPI document does not list: those of HTTP itself, `Allow` of a 405, and CORS headers, which depend on the
 * request.
 */
const UNDECLARED = /^(?:content-type|content-length|vary|allow|access-control-.*)$/

/** Returns a function that throws if a response differs from what the OpenAPI document says. */
export function responseChecker(document: OpenApiDocument): (exchange: CheckedExchange) => void {
  const ajv = new Ajv2020({ formats: { int64: true, 'uri-reference': true } })
  ajv.addVocabulary(['components'])
  ajv.addSchema({ $id: 'document', components: document.components })
  const check = (ref: string, value: unknown, name: string) => {
    const validate = ajv.getSchema(`document${ref}`)
    if (!validate?.(value)) throw new Error(`${name}: ${JSON.stringify(value)} ${ajv.errorsText(validate?.errors)}`)
  }

  return ({ method, path, status, headers, body }) => {
    const name = `${method} ${path}: ${status}`
    // The document does not list OPTIONS, although every path supports it.
    if (method === 'OPTIONS' && status === 204) return
    const response = operationOf(document, method, path)?.responses[status] ?? otherResponse(document, status)
    if (response === undefined) throw new Error(`${name}: the document has no such response`)

    const declared = Object.entries(response.headers).map(([header, { $ref }]) => [header.toLowerCase(), $ref] as const)
    for (const [header, ref] of declared) {
      const { required, schema } = document.components.headers[ref.split('/').at(-1) ?? ''] as Header
      const value = headers[header]
      if (value === undefined && required) throw new Error(`${name}: there is no header ${header}`)
      const isNumber = schema.type === 'integer'
      if (value !== undefined) check(`${ref}/schema`, isNumber ? Number(value) : value, `${name}: ${header}`)
    }
    const others = Object.keys(headers).filter(
      (header) => !UNDECLARED.test(header) && !declared.some(([known]) => known === header),
    )
    if (others.length > 0) throw new Error(`${name}: the document has no header ${others.join()}`)

    if (method === 'HEAD') return
    const { schema, examples } = response.content['application/json']
    const value = JSON.parse(body)
    check(schema.$ref, value, `${name}: body`)
    if (status >= 400 && examples && !Object.hasOwn(examples, value.code))
      throw new Error(`${name}: no example of ${value.code}`)
  }
}

/** Returns the operation of a request, or `undefined` if the document has no such method or path. */
function operationOf({ paths }: OpenApiDocument, method: string, path: string): Operation | undefined {
  const isPath = (template: string) => new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}/?$`).test(path)
  const item = Object.entries(paths).find(([template]) => isPath(template))?.[1]
  return item?.[method === 'HEAD' ? 'get' : method.toLowerCase()] as Operation | undefined
}

/**
 * Returns the declared response to a request that matches no operation. No 404 or 405 is declared for such a request, so these two
 * must have the headers and the schema of a 500.
 */
function otherResponse({ paths }: OpenApiDocument, status: number): DeclaredResponse | undefined {
  const { get } = paths['/pets'] as Readonly<Record<string, Operation>>
  const { responses } = get as Operation
  if (status !== 404 && status !== 405) return responses[status]
  const { headers, content } = responses[500] as DeclaredResponse
  return { headers, content: { 'application/json': { schema: content['application/json'].schema } } }
}
