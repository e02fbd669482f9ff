import { isPetStoreError } from '../../../src/errors.ts'
import { escapeHidden, readableText, withoutSecrets } from '../../../src/support/readable-text.ts'

/** The output cannot be written, perhaps because the program that reads it has ended. */
export class OutputError extends Error {
  readonly code: string | undefined

  constructor(cause: NodeJS.ErrnoException) {
    super(cause.message, { cause })
    this.code = cause.code
  }
}

/** Unlike `console.log`, rejects if the line cannot be written: with an {@link OutputError}. */
export function print(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(`${text}\n`, (error) => (error ? reject(new OutputError(error)) : resolve()))
  })
}

/** Returns a number of animals in words, such as `1,204 animals`. */
export function animals(count: number): string {
  return count === 1 ? '1 animal' : `${count.toLocaleString('en')} animals`
}

/** Returns a number of keys in words, such as `1,204 keys`. */
export function apiKeys(count: number): string {
  return count === 1 ? '1 key' : `${count.toLocaleString('en')} keys`
}

/** How many lines are in memory and printed at once. */
const LINES_AT_ONCE = 1_000

/** Prints lines, and returns their number. */
export async function printLines(lines: Iterable<string> | AsyncIterable<string>): Promise<number> {
  let count = 0
  let waiting: string[] = []
  const flush = async () => {
    if (waiting.length > 0) await print(waiting.join('\n'))
    waiting = []
  }
  for await (const line of lines) {
    count++
    waiting.push(line)
    if (waiting.length === LINES_AT_ONCE) await flush()
  }
  await flush()
  return count
}

/**
 * Returns a table; without items, not even its headings. A column gets wider when a thousand later rows
 * need it, because all rows would fill the memory.
 */
export async function* tableLines<T>(
  headings: readonly string[],
  items: Iterable<T> | AsyncIterable<T>,
  cellsOf: (item: T) => readonly string[],
): AsyncGenerator<string, void, undefined> {
  const widths: number[] = []
  const linesOf = (rows: readonly (readonly string[])[]) => {
    for (const row of rows)
      for (const [column, { length }] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, length)
    return rows.map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
  }
  let rows: (readonly string[])[] = [headings]
  let isEmpty = true
  for await (const item of items) {
    isEmpty = false
    rows.push(cellsOf(item).map(printable))
    if (rows.length < LINES_AT_ONCE) continue
    yield* linesOf(rows)
    rows = []
  }
  if (!isEmpty) yield* linesOf(rows)
}

/**
 * Without a listener, the command would crash if the program that reads its output exits early, as
 * `head` does. Other errors, such as a full disk, set the exit code.
 */
export function survivePipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', ({ code }: NodeJS.ErrnoException) => {
      if (code !== 'EPIPE') process.exitCode = 1
    })
  }
}

/** The longest text that is printed on one line, in UTF-16 code units. */
export const MAX_LINE = 2_000

/** Returns one line without secrets and without characters that could control a terminal. */
export function printable(text: string): string {
  return readableText(text, MAX_LINE)
}

/** Each string in printed JSON is cut to this number of UTF-16 code units. */
const MAX_TEXT = 20_000

/** Returns JSON without secrets and without characters that could control a terminal. */
export function readableJson(value: object, secrets?: readonly string[], indent?: number): string {
  const mask = (_name: string, inner: unknown) =>
    typeof inner === 'string' ? withoutSecrets(inner, MAX_TEXT, secrets) : inner
  return escapeLines(JSON.stringify(value, mask, indent))
}

/**
 * Returns a value as JSON with invisible characters escaped, but with its tokens: for
 * `petstore keys issue`.
 */
export function jsonWithTokens(value: object): string {
  return escapeLines(JSON.stringify(value, null, 2))
}

function escapeLines(text: string): string {
  return text.split('\n').map(escapeHidden).join('\n')
}

/** Hides any text that is not a plain word, because it may be a secret in the wrong place. */
export function plainWord(text: string): string {
  return /^[a-z-]{1,20}$/.test(text) ? text : '***'
}

export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

export function printError(text: string, secrets?: readonly string[]): void {
  console.error(readableText(`petstore: ${text}`, MAX_LINE, secrets))
}

/**
 * Prints one line about an error, and sets the exit code. The exit code 0 means that commander has
 * printed its help.
 */
export function fail(error: unknown, failureCode = 1, secrets?: readonly string[]): void {
  const { code, exitCode, message } = error as { code?: string; exitCode?: number; message?: string }
  if (exitCode === 0) return
  process.exitCode = failureCode
  // `commander.help`: the help is already printed. `EPIPE`: the program that reads the output has
  // closed the pipe.
  if (code === 'commander.help' || code === 'EPIPE') return
  printError(explain(error, code, String(message)), secrets)
}

/**
 * The texts of commander before and after a value of an option or an argument, and the text that
 * replaces all three.
 */
const VALUES = [
  { before: " argument '", after: "' is invalid.", instead: ' is invalid.' },
  { before: " value '", after: "' from env '", instead: " from env '" },
  { before: "command-argument value '", after: "' is invalid for argument '", instead: "invalid argument '" },
] as const

/** Removes the value from a message of commander, because it may be a secret. */
function withoutValue(message: string): string {
  const matches = VALUES.map((one) => ({
    ...one,
    start: message.indexOf(one.before),
    end: message.lastIndexOf(one.after),
  }))
  // A value may contain such a text itself, so the first match is the right one.
  const [first] = matches
    .filter(({ before, start, end }) => start !== -1 && end >= start + before.length)
    .sort((a, b) => a.start - b.start)
  return first ? message.slice(0, first.start) + first.instead + message.slice(first.end + first.after.length) : message
}

/** Its flags are those of the port and the address to listen on. */
type ListenError = NodeJS.ErrnoException & { address?: string; port?: number; portFlag?: string; hostFlag?: string }

function explain(error: unknown, code: string | undefined, message: string): string {
  const { address, port, syscall, portFlag = '--port', hostFlag = '--host' } = error as ListenError
  if (code === 'EADDRINUSE')
    return `port ${port} on ${address} is in use: choose another port with ${portFlag}, or 0 for any free port`
  if (code === 'EACCES')
    return `you have no permission to listen on port ${port} of ${address}: choose another port with ${portFlag}`
  // Node's message contains the value of `--host`, which may be a URL with a password by mistake.
  if (code === 'EADDRNOTAVAIL' || syscall === 'getaddrinfo')
    return `${hostFlag}: this machine has no such address (${code}): give one of its own, such as 127.0.0.1, or 0.0.0.0 for all`
  // The value of an option or of an unknown flag may be a secret, so it is removed from the
  // message.
  if (isPetStoreError(error))
    return message.replace(/^option (\w+)[\w.[\]]*/, (_, name: string) => flagOf(name)).replace(/, got .*$/s, '')
  const known = withoutValue(message)
    .replace(/^(error: unknown option '(?:-\w|--[a-z-]{1,20}(?=[=']))?).*?'/s, "$1'")
    .replace(/^(error: unknown command) '(.*?)'(?=$|\n)/s, (_, error, name) => `${error} '${plainWord(name)}'`)
  const [first, ...others] = known.replace(/^error: /, '').split('\n')
  return [first, ...others.filter((line) => line.startsWith('(Did you mean'))].join(' ')
}

const FLAGS: Readonly<Record<string, string>> = {
  client: '--database-url',
  database: '--data',
  expiresAt: '--expires',
  plans: '--plan-limits',
  schema: '--database-url',
}

/** Returns the flag for an option of the library, such as `--base-path` for `basePath`. */
export function flagOf(option: string): string {
  return FLAGS[option] ?? `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}
