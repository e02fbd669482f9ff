import type { MaybePromise } from '../../../ports.ts'
import { shorten } from '../../../support/describe-value.ts'
import { escapeHidden } from '../../../support/readable-text.ts'

/** Thrown if a port has broken a rule. Its message is the report without the last line. */
export class BrokenRule extends Error {}

/** A report has at most this many lines for calls, and so at most 15 lines in total. */
const MOST_STEPS = 8
const LONGEST_TEXT = 60
const LONGEST_LINE = 240

/** The calls of one test, which its report lists. */
export type Steps = ReturnType<typeof recordSteps>

export function recordSteps() {
  let steps: string[] = []
  const textOf = (value: unknown) => (typeof value === 'string' ? value : show(value))

  /**
   * Throws a {@link BrokenRule} if `holds` is false. Its message begins with `sentence`. `expected`
   * and `received` are texts, or values that are shown as code. The report lists `lines`: by
   * default, the calls of the test.
   */
  function check(holds: boolean, sentence: string, expected: unknown, received: unknown, lines = steps): void {
    if (holds) return
    const details = [`  expected: ${textOf(expected)}`, `  received: ${textOf(received)}`, ...stepLines(lines)]
    throw new BrokenRule([sentence, ...details].map(shortLine).join('\n'))
  }
  return {
    check,
    /**
     * Throws a {@link BrokenRule} unless both objects have equal members. The message of the error
     * begins with `text`.
     */
    checkEqual(text: string, received: object, expected: object): void {
      const differs = difference(received, expected)
      if (differs) check(false, `${text} ${differs.rule}`, expected, received)
    },
    note: (text: string) => void steps.push(text),
    forget() {
      steps = []
    },
    /**
     * Makes a call and adds it to the report. If the call throws, throws a {@link BrokenRule} whose
     * message contains `rule`.
     */
    async call<T>(text: string, call: () => MaybePromise<T>, rule: string, result: (value: T) => string = String) {
      const index = steps.push(text) - 1
      try {
        const value = await call()
        steps[index] = `${text} → ${result(value)}`
        return value
      } catch (error) {
        steps[index] = `${text} → an error`
        const thrown = showError(error)
        check(false, `${text} threw ${thrown}: ${rule}`, 'no error', `${thrown}${frameOf(error)}`)
        throw error
      }
    },
  }
}

/**
 * Returns one line for each of the last calls. Equal calls that follow each other share one line.
 */
function stepLines(steps: readonly string[]): string[] {
  const lines: { readonly step: string; times: number }[] = []
  for (const step of steps) {
    const last = lines.at(-1)
    if (last?.step === step) last.times++
    else lines.push({ step, times: 1 })
  }
  if (lines.length === 0) return []
  const shown = lines.length > MOST_STEPS ? lines.slice(1 - MOST_STEPS) : lines
  const omitted = lines.slice(0, -shown.length).reduce((sum, { times }) => sum + times, 0)
  const first = omitted > 0 ? [`    … ${omitted} earlier calls`] : []
  return ['  steps:', ...first, ...shown.map(({ step, times }) => `    ${times > 1 ? `${times} times: ` : ''}${step}`)]
}

/**
 * Throws the report of a failed test. It has no stack, because a runner would print lines of the
 * suite, not of the port.
 */
export function throwReport(error: unknown, again: string): never {
  if (!(error instanceof BrokenRule)) throw error
  const reported = new Error(`${error.message}\n  run it again: ${again}`)
  reported.stack = `Error: ${reported.message}`
  throw reported
}

/**
 * Returns a value as code, with long texts and arrays shortened, and with escapes for characters
 * outside ASCII.
 */
export function show(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'string') return showText(value)
  if (value instanceof AbortSignal) return 'AbortSignal.abort()'
  if (value instanceof Date) return `new Date(${value.getTime()})`
  if (Array.isArray(value)) return `[${listFirst(value.map(show))}]`
  if (typeof value === 'function') return 'a function'
  if (typeof value !== 'object' || value === null) return String(value)
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return members.length === 0 ? '{}' : `{ ${members.map(([name, member]) => `${name}: ${show(member)}`).join(', ')} }`
}

export function showTime(time: unknown): string {
  const isDate = typeof time === 'number' && time !== 0 && Math.abs(time) <= 8.64e15
  return isDate ? new Date(time).toISOString() : show(time)
}

/**
 * Compares two values deeply. The order of members does not matter, and a member that is
 * `undefined` counts as absent.
 */
export function same(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return Object.is(one, other)
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...names].every((name) => same(one[name as keyof typeof one], other[name as keyof typeof other]))
}

/** Lists the first texts, and says how many more there are. */
export function listFirst(items: readonly string[], most = 8): string {
  const more = items.length > most ? [`… ${items.length - most} more`] : []
  return [...items.slice(0, most), ...more].join(', ')
}

/**
 * Returns the first member that differs from the expected one, or `undefined` if all members are
 * equal.
 */
export function difference(received: object, expected: object) {
  const actual = new Map(Object.entries(received))
  const wanted = new Map(Object.entries(expected))
  for (const name of new Set([...wanted.keys(), ...actual.keys()])) {
    const one = actual.get(name)
    const other = wanted.get(name)
    if (same(one, other)) continue
    if (one === undefined) return { name, rule: `without ${name}: expected ${show(other)}` }
    if (other === undefined) return { name, rule: `with ${name} ${show(one)}: leave out members that were not given` }
    const kind = typeof one === typeof other ? '' : ` (a ${typeof one}, not a ${typeof other})`
    const start = isLong(one) && isLong(other) ? `, which differs after ${equalStart(one, other)} characters` : ''
    return { name, rule: `with ${name} ${show(one)}${kind}: expected ${show(other)}${start}` }
  }
  return undefined
}

function isLong(value: unknown): value is string {
  return typeof value === 'string' && value.length > LONGEST_TEXT
}

function equalStart(one: string, other: string): number {
  let index = 0
  while (index < one.length && one[index] === other[index]) index++
  return index
}

function showText(text: string): string {
  const start = JSON.stringify(text.slice(0, LONGEST_TEXT)).slice(1, -1)
  const escaped = start.replace(/[^ -~]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
  if (text.length <= LONGEST_TEXT && escaped.length <= LONGEST_TEXT) return `"${escaped}"`
  return `"${escaped.slice(0, LONGEST_TEXT - 20)}…" (${text.length} characters)`
}

function showError(error: unknown): string {
  if (!(error instanceof Error)) return show(error)
  const [line = ''] = error.message.split('\n')
  return `${error.name}: ${shorten(line, 2 * LONGEST_TEXT)}`
}

/** Returns where the port has thrown an error. */
function frameOf(error: unknown): string {
  const frame = error instanceof Error ? /^ +at .+$/m.exec(error.stack ?? '')?.[0] : undefined
  return frame === undefined ? '' : ` (${frame.trim()})`
}

/**
 * Shortens a line, escapes line breaks in it, and masks tokens: reports of a test with a real
 * database may be public.
 */
function shortLine(line: string): string {
  return shorten(escapeHidden(line.replaceAll(/pet_\w{49}/g, 'pet_…')), LONGEST_LINE)
}
