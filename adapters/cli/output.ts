import { isPetStoreError } from '../../src/errors.ts'
import { escapeHidden, readableText, withoutSecrets } from '../../src/support/readable-text.ts'

/** Writes a line to standard output. Rejects if the line cannot be written. */
export function print(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(`${text}\n`, (error) => (error ? reject(error) : resolve()))
  })
}

/**
 * Keeps the command running if the program that reads its output exits early, as `head` does. Other write errors, such as a full
 * disk, set the exit code.
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

/** Returns a text on one line, without secrets and without characters that could control a terminal. */
export function printable(text: string): string {
  return readableText(text, MAX_LINE)
}

/** The longest text in JSON that is printed, in UTF-16 code units. */
const MAX_TEXT = 20_000

/** Returns a value as JSON, without secrets in its texts and without characters that could control a terminal. */
export function readableJson(value: object, secrets?: readonly string[], indent?: number): string {
  const mask = (_name: string, inner: unknown) =>
    typeof inner === 'string' ? withoutSecrets(inner, MAX_TEXT, secrets) : inner
  return JSON.stringify(value, mask, indent).split('\n').map(escapeHidden).join('\n')
}

/** Returns a mistyped word for a message. Hides any other text, because a secret may stand there by mistake. */
export function plainWord(text: string): string {
  return /^[a-z-]{1,20}$/.test(text) ? text : '***'
}

/** Returns a text as one word for a shell, in quotes if necessary. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** Prints one line to standard error. */
export function printError(text: string, secrets?: readonly string[]): void {
  console.error(readableText(`petstore: ${text}`, MAX_LINE, secrets))
}

/**
 * Prints one line about an error, and sets the exit code. Does nothing for an error with the exit code 0: commander has printed its
 * help.
 */
export function fail(error: unknown, failureCode = 1): void {
  const { code, exitCode, message } = error as { code?: string; exitCode?: number; message?: string }
  if (exitCode === 0) return
  process.exitCode = failureCode
  // `commander.help`: the help is already printed. `EPIPE`: the program that reads the output has closed the pipe.
  if (code === 'commander.help' || code === 'EPIPE') return
  printError(explain(error, code, String(message)))
}

/** What an error of `listen` says about its place. `flag` is the flag of the port. */
interface ListenError {
  readonly address?: string
  readonly port?: number
  readonly flag?: string
}

function explain(error: unknown, code: string | undefined, message: string): string {
  const { address, port, syscall, flag = '--port' } = error as NodeJS.ErrnoException & ListenError
  if (code === 'EADDRINUSE')
    return `port ${port} on ${address} is taken: choose another with ${flag}, or 0 for any free port`
  if (code === 'EACCES')
    return `port ${port} on ${address} needs rights that this user does not have: choose another with ${flag}`
  // Node's message contains the address, in which a password may stand by mistake.
  if (code === 'EADDRNOTAVAIL' || syscall === 'getaddrinfo') return `--host: this machine has no such address (${code})`
  // The received value of an option may be a secret, such as the password of an address. That of an unknown flag may be one too.
  if (isPetStoreError(error))
    return message.replace(/^option (\w+)[\w.]*/, (_, name: string) => flagOf(name)).replace(/, got .*$/s, '')
  const known = message
    .replace(/^(error: unknown option '(?:-\w|--[a-z-]{1,20}(?=[=']))?).*?'/s, "$1'")
    .replace(/^(error: unknown command) '(.*?)'(?=$|\n)/s, (_, error, name) => `${error} '${plainWord(name)}'`)
  const [first, ...others] = known.replace(/^error: /, '').split('\n')
  return [first, ...others.filter((line) => line.startsWith('(Did you mean'))].join(' ')
}

/** The flags whose names differ from those of the library's options. */
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
