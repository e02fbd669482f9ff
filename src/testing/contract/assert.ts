/** Throws an error with the text `what` unless `holds`. The suites have their own assertions, because any test runner runs them. */
export function check(holds: boolean, what: string): void {
  if (!holds) throw new Error(what)
}

/** Compares plain values deeply. A member that is `undefined` counts as absent. */
export function checkEqual(actual: unknown, expected: unknown, what: string): void {
  check(isEqual(actual, expected), `${what}: expected ${brief(expected)}, got ${brief(actual)}`)
}

/** Compares two lists; the order of their items does not matter. */
export function checkSameItems(actual: readonly unknown[], expected: readonly unknown[], what: string): void {
  checkEqual(actual.map(show).sort(), expected.map(show).sort(), what)
}

/** Checks that a call rejects with this error code. */
export async function checkRejected(call: () => Promise<unknown>, code: string, what: string): Promise<void> {
  const error: unknown = await call().then(
    () => undefined,
    (error: unknown) => error,
  )
  const actual = typeof error === 'object' && error !== null && 'code' in error ? error.code : error
  check(actual === code, `${what}: expected an error of code ${code}, got ${String(actual)}`)
}

/** Returns a value as text: members are sorted, and a bigint differs from a number. */
export function show(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`
  if (Array.isArray(value)) return `[${value.map(show).join(', ')}]`
  if (typeof value === 'object' && value !== null) return `{ ${members(value).map(showMember).join(', ')} }`
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}

const LONGEST = 500

function brief(value: unknown): string {
  const text = show(value)
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}… (${text.length} characters)` : text
}

function showMember([name, value]: [string, unknown]): string {
  return `${name}: ${show(value)}`
}

function members(value: object): [string, unknown][] {
  return Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
}

function isEqual(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return Object.is(a, b)
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const [left, right] = [members(a), members(b)]
  return (
    left.length === right.length &&
    left.every(([name, value], i) => name === right[i]?.[0] && isEqual(value, right[i]?.[1]))
  )
}
