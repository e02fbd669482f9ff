import type { ResolvedOptions } from './options.ts'

/** The options that clients notice. The OpenAPI document states them. */
export type DocumentedOptions = Pick<
  ResolvedOptions,
  | 'basePath'
  | 'bodyLimit'
  | 'cors'
  | 'defaultStatus'
  | 'linkBase'
  | 'maxNameLength'
  | 'quotaRules'
  | 'readOnly'
  | 'requestId'
  | 'standardRateLimitHeaders'
  | 'sunset'
>

/**
 * `Symbol.for`, because the store and the document may belong to different copies of this package,
 * such as its CommonJS build.
 */
const KEY = Symbol.for('petstore-kit.documentedOptions')

/** A store that `console.log` prints shows a function instead of all options. */
interface WithOptions {
  readonly [KEY]?: () => DocumentedOptions | undefined
}

/**
 * Returns a store with its options, which only the OpenAPI document reads, so the public types do not
 * show them. A copy of it, such as `{ ...petStore, handle }`, has them too.
 */
export function withDocumentedOptions<Store extends object>(
  petStore: Store,
  options: () => DocumentedOptions | undefined,
): Store {
  return { ...petStore, [KEY]: options } satisfies WithOptions
}

/** Returns the options of a store; `undefined` for a wrapper that is no copy of a store. */
export function documentedOptionsOf(petStore: unknown): DocumentedOptions | undefined {
  return (Object(petStore) as WithOptions)[KEY]?.()
}
