import { type Argument, type Command, Option } from 'commander'

type Parse = (text: string, previous: never) => unknown
type Run = (...parameters: never[]) => Promise<void>
type Part = Option | Argument

/** Adds a command to its parent. Its action gets the arguments and the values of the options. */
export function add(parent: Command, name: string, description: string, run: Run, parts: readonly Part[]): void {
  const command = parent.command(name).description(description)
  command.action(run as (...parameters: unknown[]) => Promise<void>)
  for (const part of parts) part instanceof Option ? command.addOption(part) : command.addArgument(part)
}

export function option(flags: string, description: string, parse?: Parse): Option {
  const option = new Option(flags, description)
  return parse ? option.argParser(parse as (text: string, previous: unknown) => unknown) : option
}

/**
 * Creates an option with an environment variable, such as PETSTORE_PUBLIC_URL for `--public-url`.
 * The list of processes shows flags to all users, but no variables, so a password belongs in a
 * variable.
 */
export function flag(flags: string, description: string, parse?: Parse, prefix = ''): Option {
  const created = option(flags, description, parse)
  const variable = variableOf(prefix + created.name())
  const value = process.env[variable]
  // For a flag without an argument, commander treats every value of the environment variable as
  // true, even `false`.
  const isOff = created.isBoolean() && /^(?:false|0|no|off)$/i.test(value ?? '')
  if (value === '' || isOff) delete process.env[variable]
  return created.env(variable)
}

function variableOf(name: string): string {
  const variable = `PETSTORE_${name.toUpperCase().replaceAll('-', '_')}`
  // Many hosting services set PORT, so PORT sets the port if PETSTORE_PORT is not set.
  return name === 'port' && process.env.PORT && !process.env[variable] ? 'PORT' : variable
}

/**
 * If one of these flags is on the command line, ignores values of the others from environment
 * variables.
 */
export function preferTyped(command: Command, ...names: readonly string[]): void {
  const isTyped = (name: string) => command.getOptionValueSource(name) === 'cli'
  if (!names.some(isTyped)) return
  for (const name of names) if (!isTyped(name)) command.setOptionValue(name, undefined)
}
