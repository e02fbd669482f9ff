/** The longest line of a report, and the largest number of its lines: a report fits a screen. */
const LONGEST_LINE = 240
const MOST_LINES = 24
const LONGEST_TEXT = 60

/**
 * Returns a value as code, in ASCII, shortened, and without tokens: reports of a test with a real
 * database may be public.
 */
export function show(value: unknown): string {
  const plain = (_: string, one: unknown) => {
    if (typeof one === 'bigint') return `${one}n`
    if (typeof one === 'string' && one.length > LONGEST_TEXT) return `${one.slice(0, 30)}... (${one.length} characters)`
    return one instanceof AbortSignal ? 'signal' : one
  }
  const text = (JSON.stringify(value, plain) ?? String(value))
    .replaceAll(/"(-?\d+n)"/g, '$1')
    .replaceAll(/"(\w+)":/g, ' $1: ')
    .replaceAll(/(?<!{)}/g, ' }')
  return printable(text)
}

/** Returns a line of a report in ASCII, shortened, and without tokens. */
function printable(line: string): string {
  const text = line
    .replaceAll(/pet_\w{49}/g, 'pet_...')
    .replaceAll(/[^ -~]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
  return text.length > LONGEST_LINE ? `${text.slice(0, LONGEST_LINE)}...` : text
}

/** Returns the member in which two values differ, or `undefined`. A member that is `undefined` counts as absent. */
export function difference(one: unknown, other: unknown, path = 'result'): string | undefined {
  if (Object.is(one, other)) return undefined
  if (typeof one !== 'object' || typeof other !== 'object' || !one || !other) return path
  if (Array.isArray(one) !== Array.isArray(other)) return path
  const names = [...new Set([...Object.keys(other), ...Object.keys(one)])]
  const memberOf = (name: string) => (Array.isArray(one) ? `${path}[${name}]` : `${path}.${name}`)
  const differences = names.map((name) => difference(one[name as never], other[name as never], memberOf(name)))
  return differences.find((found) => found)
}

/** Throws an error that says the call, the expected and the received value, unless both are equal. */
export function equal(call: string, received: unknown, expected: unknown): void {
  const path = difference(received, expected)
  if (path) broken(`${call}: wrong ${path}`, expected, received)
}

/**
 * Throws the error of a broken rule. A text in `expected` and `received` is shown as it is, any
 * other value as code. `story` has a line for each step that led to it.
 */
export function broken(rule: string, expected: unknown, received: unknown, story: readonly string[] = []): never {
  const textOf = (value: unknown) => (typeof value === 'string' ? value : show(value))
  const values = [`  expected: ${textOf(expected)}`, `  received: ${textOf(received)}`]
  throw new Error([rule, ...values, ...story.map((step) => `  ${step}`)].join('\n'))
}

/**
 * Returns an error with more lines, all of them shortened. The new error has no stack, because a runner would print
 * lines of the suite, not of the port.
 */
export function reportOf(error: unknown, lines: readonly string[]): Error {
  const { message, cause } = error as Error
  const all = [...message.split('\n'), ...lines].filter((line) => line.trim() !== '')
  const shown = all.length > MOST_LINES ? [...all.slice(0, MOST_LINES - 1), '  ...'] : all
  const report = new Error(shown.map(printable).join('\n'), cause === undefined ? {} : { cause })
  report.stack = `Error: ${report.message}`
  return report
}
