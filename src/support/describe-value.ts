const LONGEST = 40

/** A number of a JSON text that is no int64: kept as it was written, for the message that refuses it. */
export class JsonNumber {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** What came, in a few words, for the message that says what was expected instead. */
export function describe(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null || typeof value === 'boolean') return String(value)
  if (value instanceof JsonNumber) return `the number ${shorten(value.text)}`
  if (typeof value === 'number' || typeof value === 'bigint') return `the number ${value}`
  if (typeof value === 'string') return `the string ${JSON.stringify(shorten(value))}`
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object') return value instanceof Promise ? 'a promise' : 'an object'
  return `a ${typeof value}`
}

function shorten(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text
}
