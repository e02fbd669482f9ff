import type * as z from 'zod/mini'
import { describeValue, shorten } from '../support/describe-value.ts'

/** The error text of a schema, as zod takes it. */
export interface Expectation {
  /** Returns what was expected, and what was received. */
  readonly error: (issue: { readonly input?: unknown }) => string
}

/**
 * Returns the error text of a schema. Every schema needs one: zod's own texts are not part of the
 * bundle.
 * @param expected - a valid value in words, such as `a whole number from 1 to 100`
 */
export function expecting(expected: string, describe = describeValue): Expectation {
  return { error: ({ input }) => `expected ${expected}, got ${describe(input)}` }
}

/**
 * The schema of each member of `T`. The compiler requires that both have the same members, with
 * types that fit.
 */
export type Shape<T> = { readonly [Name in keyof T]-?: z.ZodMiniType<T[Name]> }

/**
 * One problem of a value: the path of the wrong member, such as `cors.origins[1]`, and what is
 * wrong with the member.
 */
export interface Problem {
  /** The names of the members that lead to the wrong member; empty if the value itself is wrong. */
  readonly path: readonly PropertyKey[]
  readonly message: string
  /** The known names, if the problem is an unknown one. */
  readonly known?: readonly string[] | undefined
}

/**
 * Returns every problem that zod has found, the first member of the schema first. Several unknown
 * names in one object get the list of the known ones only once.
 */
export function problemsOf({ issues }: z.core.$ZodError): Problem[] {
  let listed: readonly string[] | undefined
  return issues
    .flatMap((issue) => innerProblems(issue, []))
    .map((problem) => {
      const { known } = problem
      if (known === undefined || known !== listed) {
        listed = known
        return problem
      }
      return { ...problem, message: problem.message.replace(optionsText(known), 'these options') }
    })
}

/** Returns the known names of an object, as the problem of an unknown one lists them. */
export function optionsText(known: readonly string[]): string {
  return `the options ${known.join(', ')}`
}

/**
 * If a value has the form of one alternative of a union, only the problems inside of this
 * alternative are of interest.
 */
function innerProblems(issue: z.core.$ZodIssue, before: readonly PropertyKey[]): Problem[] {
  const path = [...before, ...issue.path]
  const alternatives = issue.code === 'invalid_union' ? issue.errors : []
  const meant = alternatives.find((issues) => issues.every((inner) => inner.path.length > 0))
  if (meant) return meant.flatMap((inner) => innerProblems(inner, path))
  const known: readonly string[] | undefined = issue.code === 'custom' ? issue.params?.known : undefined
  return [{ path, message: issue.message, known }]
}

/** Returns a path as programs write it: `plans.gold.perDay`, `pets[0].name`. Long names are cut. */
export function pathText(path: readonly PropertyKey[]): string {
  return path
    .map((name) => (typeof name === 'number' ? `[${name}]` : `.${shorten(String(name))}`))
    .join('')
    .replace(/^\./, '')
}

/** If a value has more problems, its message names only the first few, so that it fits a screen. */
const MOST_PROBLEMS = 10
const FIRST_PROBLEMS = 3

/** Returns problems as one text. If there are many, it has the first ones and the number of the others. */
export function listText(problems: readonly Problem[], textOf: (problem: Problem) => string): string {
  if (problems.length <= MOST_PROBLEMS) return problems.map(textOf).join('; ')
  const first = problems.slice(0, FIRST_PROBLEMS).map(textOf).join('; ')
  const others = (problems.length - FIRST_PROBLEMS).toLocaleString('en')
  return `${first}; and ${others} more: correct these first, because the others may have the same cause`
}

/** Returns the problems as one text: `limit: expected …, got …; status: expected …, got …`. */
export function problemText(error: z.core.$ZodError): string {
  return listText(problemsOf(error), ({ path, message }) =>
    path.length === 0 ? message : `${pathText(path)}: ${message}`,
  )
}
