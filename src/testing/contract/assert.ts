/** Throws an error with the text `what` unless `holds`. The suites have their own assertions, because any test runner runs them. */
export function check(holds: boolean, what: string): void {
  if (!holds) throw new Error(what)
}

/** Compares plain values deeply, by their texts. A member that is `undefined` counts as absent. */
export function checkEqual(actual: unknown, expected: unknown, what: string): void {
  const [received, wanted] = [show(actual), show(expected)]
  check(received === wanted, `${what}: expected ${shorten(wanted)}, got ${shorten(received)}`)
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
