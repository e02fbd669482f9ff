const MAX_LENGTH = 40

/** Describes a value in a few words, for an error message. */
export function describeValue(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'number' || typeof value === 'bigint') return `the number ${value}`
  if (typeof value === 'string') return `the string ${JSON.stringify(shorten(value))}`
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object') return value instanceof Promise ? 'a promise' : 'an object'
  return `a ${typeof value}`
}

/** Cuts a text after `length` UTF-16 code units. `toWellFormed` replaces the half of a surrogate pair at the cut. */
export function shorten(text: string, length = MAX_LENGTH): string {
  return text.length > length ? `${text.slice(0, length)}…`.toWellFormed() : text
}

/** Returns the message of the innermost cause, which is the most specific one. */
export function innermostMessage(error: unknown): string {
  const { cause, errors, message, code } = Object(error) as {
    cause?: unknown
    errors?: unknown[]
    message?: string
    code?: string
  }
  if (cause !== undefined) return innermostMessage(cause)
  if (Array.isArray(errors) && errors.length > 0) return innermostMessage(errors[0])
  return message || code || String(error)
}
