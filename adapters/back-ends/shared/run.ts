import type { MaybePromise } from '../../../src/index.ts'

/** Runs a statement by its name. Returns its rows. */
export type Run<Name extends string> = (
  name: Name,
  ...values: (string | number | null)[]
) => MaybePromise<readonly unknown[]>
