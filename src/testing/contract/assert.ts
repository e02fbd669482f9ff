/** Throws an error with the text `what` unless `holds`. The suites have their own assertions, because any test runner runs them. */
export function check(holds: boolean, what: string): void {
  if (!holds) throw new Error(what)
}

/** Compares plain values deeply, by their texts. A member that is `undefined` counts as absent. */
export function checkEqual(actual: unknown, expected: unknown, what: string): void {
  const [received, wanted] = [show(actual), show(expected)]
  check(received === wanted, `${what}: expected ${shorten(wanted)}, got ${shorten(received)}`)
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
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value !== 'object' || value === null) return String(value)
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  const texts = members.map(([name, member]) => `${name}: ${show(member)}`)
  return `{ ${texts.sort().join(', ')} }`
}

const LONGEST = 500

function shorten(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}… (${text.length} characters)` : text
}
