import { wellFormed } from './text.ts'

const MAX_LENGTH = 40

/** Describes a value in a few words, for an error message. */
export function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'number' || typeof value === 'bigint') return `the number ${value}`
  if (typeof value === 'string') return `the string ${JSON.stringify(shorten(value))}`
  if (Array.isArray(value)) return 'an array'
  if (value instanceof JsonNumber) return `the number ${shorten(value.text)}`
  if (value instanceof Promise) return 'a promise'
  if (value instanceof Date) return 'a Date'
  if (typeof value === 'object') return 'an object'
  return `a ${typeof value}`
}

/**
 * Cuts a text after `length` UTF-16 code units. `wellFormed` replaces the half of a surrogate
 * pair at the cut.
 */
export function shorten(text: string, length = MAX_LENGTH): string {
  return text.length > length ? wellFormed(`${text.slice(0, length)}…`) : text
}

/**
 * Returns the innermost cause, which is the most specific one. Follows at most nine causes: they
 * may form a cycle.
 */
export function innermostCause(error: unknown, depth = 0): { readonly message?: string; readonly code?: string } {
  const { cause, errors } = Object(error) as { cause?: unknown; errors?: unknown }
  // For a host name with several IP addresses, Node has one error for each of them in `errors`.
  const inner = cause ?? (Array.isArray(errors) ? errors[0] : undefined)
  return inner != null && depth < 9 ? innermostCause(inner, depth + 1) : Object(error)
}

export function innermostMessage(error: unknown): string {
  const cause = innermostCause(error)
  return cause.message || cause.code || String(cause)
}

/** The text of a JSON number that is not an int64. */
export class JsonNumber {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}
