/**
 * A schema that many libraries of forms, routes and remote procedures accept: https://standardschema.dev, version 1. The types are
 * those of its specification.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  /** The validator and its types. */
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    /** Checks a value. The schemas of this package return a result, never a promise. */
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

/** The result of {@link StandardSchema}: the value, or what is wrong with it. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

/** One problem of a value or of one of its members. */
export interface SchemaIssue {
  /** A sentence with the expected and the received value. */
  readonly message: string
  /** The names of the members that lead to the wrong one. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}
