#!/usr/bin/env node
import { createRequire } from 'node:module'
import { Argument, Command, Option } from 'commander'
import { runBackup } from './backup.ts'
import {
  parseExpiry,
  parseFile,
  parseHost,
  parseKeys,
  parseLimits,
  parseLogFormat,
  parseOrigins,
  parsePlanLimits,
  parseSeconds,
  parseServerUrl,
  parseToken,
  parseTrustProxy,
  wholeNumber,
} from './flags.ts'
import { runIssue, runList, runRevoke, runUpdate } from './keys.ts'
import { runOpenApi } from './openapi.ts'
import { fail, survivePipes } from './output.ts'
import { runSeed } from './seed.ts'
import { runServe } from './serve.ts'

const { version } = createRequire(import.meta.url)('../package.json') as { version: string }

survivePipes()
// Other users of the machine must not read new files, such as a database with accounts and token hashes.
process.umask(process.umask(0o077) | 0o007)

const program = createProgram()
try {
  await program.parseAsync()
} catch (error) {
  // For `check`, 1 means that the server fails the check, so any other error is 2.
  fail(error, program.args[0] === 'check' ? 2 : 1)
}

function createProgram(): Command {
  const port = wholeNumber(0, 65_535)
  // Without a limit, a mistyped number could fill the memory.
  const seed = wholeNumber(0, 1_000_000)
  const program = new Command('petstore')
    .description('A complete pet store API.')
    .version(version)
    .exitOverride()
    .configureOutput({ outputError: () => {} })

  addPlaceFlags(program.command('serve'))
    .description('start the API on this machine: in memory, in a SQLite file or in PostgreSQL')
    .addOption(flag('--redis-url <url>', 'count requests in Redis'))
    .addOption(
      flag('-p, --port <number>', 'port to listen on, 0 for any free port; PORT works too', port).default(3000),
    )
    .addOption(flag('--host <address>', 'address to listen on', parseHost).default('127.0.0.1'))
    .addOption(flag('--base-path <path>', 'path under which clients see the API').default('/v1'))
    .addOption(flag('--public-url <url>', 'public address, for absolute links'))
    .addOption(
      flag(
        '--cors [origins]',
        'let web pages of all origins, or of a list with commas, call the API',
        parseOrigins,
      ).preset('*'),
    )
    .addOption(
      flag(
        '--trust-proxy <proxies>',
        'number of proxies in front, or their addresses and CIDR ranges with commas',
        parseTrustProxy,
      ),
    )
    .addOption(flag('--body-limit <bytes>', 'largest request body (default: 65536)', wholeNumber()))
    .addOption(planLimits())
    .addOption(flag('--key <plan=token...>', 'fixed development key, such as pro=my-token; may be repeated', parseKeys))
    .addOption(flag('--insecure-keys', 'allow --key on an address that other machines reach'))
    .addOption(flag('--demo', 'add demo animals and keys to an empty file or database (in memory: always)'))
    .addOption(flag('--seed <number>', 'number of demo animals for an empty store (default: 8 with demo data)', seed))
    .addOption(flag('--log [format]', 'print a line for each request: text or json', parseLogFormat).preset('text'))
    .addOption(flag('--json', 'print the addresses and demo keys as one line of JSON'))
    .addOption(
      flag(
        '--drain-delay <seconds>',
        'how long /ready responds with 503 before the server closes (default: 5; at a terminal or in memory 0)',
        parseSeconds,
      ),
    )
    .addOption(flag('--control-port <number>', 'port of the API that steers a test double, 0 for any free port', port))
    .action(runServe)

  program
    .command('openapi')
    .description('print the OpenAPI document of the API')
    .option('--yaml', 'print YAML instead of JSON')
    .option('--server-url <url>', 'public address of the server')
    .addOption(flag('--base-path <path>', 'path under which clients see the API').default('/v1'))
    .addOption(planLimits())
    .action(runOpenApi)

  const limits = () =>
    parsed(new Option('--limits <minute/day>', 'limits of this key alone, such as 10/100'), parseLimits)
  const expires = () =>
    parsed(new Option('--expires <date>', 'when the key expires, such as 2030-01-31'), (text) => parseExpiry(text))
  const keys = program.command('keys').description('issue, change, list and revoke API keys')
  addPlaceFlags(keys.command('issue'))
    .description('issue a key, and print its token')
    .requiredOption('--plan <plan>', 'free, pro, business, enterprise (with --limits), or a plan of --plan-limits')
    .option('--account <name>', 'keys with the same account are counted together')
    .option('--label <text>', 'note for the list of keys')
    .addOption(limits())
    .addOption(expires())
    .addOption(planLimits())
    .option('--json', 'print the token and the key as JSON')
    .action(runIssue)
  addPlaceFlags(keys.command('update'))
    .description('change a key; its token stays the same')
    .argument('<id>', 'id of the key, such as key_…, as list shows it')
    .option('--plan <plan>', 'new plan; limits of the key alone stay, unless --no-limits')
    .option('--account <name>', 'keys with the same account are counted together')
    .option('--no-account', 'give the key an allowance of its own')
    .option('--label <text>', 'note for the list of keys')
    .option('--no-label', 'remove the note')
    .addOption(limits())
    .option('--no-limits', 'with --plan, apply the limits of the plan')
    .addOption(expires())
    .option('--no-expires', 'let the key be valid until it is revoked')
    .addOption(planLimits())
    .option('--json', 'print the changed key as JSON')
    .action(runUpdate)
  addPlaceFlags(keys.command('list'))
    .description('list every key ever issued, without tokens')
    .option('--json', 'print JSON')
    .action(runList)
  addPlaceFlags(keys.command('revoke'))
    .description('revoke a key')
    .argument('<id>', 'id of the key, such as key_…, as list shows it')
    .action(runRevoke)

  addPlaceFlags(program.command('seed'))
    .description('fill a catalogue with demo animals; an interrupted seed continues where it stopped')
    .addOption(parsed(new Option('--count <number>', 'total number of animals'), wholeNumber()).makeOptionMandatory())
    .action(runSeed)

  program
    .command('backup')
    .description('copy a SQLite file, while it is served; for PostgreSQL, use pg_dump')
    .addArgument(parsed(new Argument('<file>', 'name of the copy, a new file'), parseFile))
    .addOption(flag('--data <file>', 'the SQLite file to copy', parseFile))
    .action(runBackup)

  program
    .command('check')
    .description('check a running server against the interface; it adds about 45 animals')
    .addArgument(
      parsed(
        new Argument('<url>', 'address of the API with its version, such as http://127.0.0.1:3000/v1'),
        parseServerUrl,
      ),
    )
    .addOption(
      flag('--key <token>', 'token of a key, preferably of the plan pro', parseToken, 'CHECK_').makeOptionMandatory(),
    )
    .addOption(
      flag('--limited-key <token>', 'token of a key that may be used up, to check the 429', parseToken, 'CHECK_'),
    )
    .option('--contract-only', 'run only the rows of the interface, not the decisions of petstore-kit')
    .addOption(
      parsed(new Option('--timeout <seconds>', 'how long a response may take'), wholeNumber(1, 600)).default(10),
    )
    .option('--json', 'print one line of JSON')
    .action(async (url, flags) => (await import('./check.ts')).runCheck(url, flags))
  return program
}

/**
 * Creates an option with an environment variable, such as PETSTORE_PUBLIC_URL for `--public-url`. The list of processes shows
 * flags, but no variables, so a variable can contain a password.
 */
function flag(
  flags: string,
  description: string,
  parse?: (text: string, previous: never) => unknown,
  prefix = '',
): Option {
  const option = new Option(flags, description)
  const variable = variableOf(prefix + option.name())
  const value = process.env[variable]
  // For a flag without an argument, commander treats every value of the environment variable as true, even `false`.
  const isOff = option.isBoolean() && /^(?:false|0|no|off)$/i.test(value ?? '')
  if (value === '' || isOff) delete process.env[variable]
  if (parse) parsed(option, parse, variable)
  return option.env(variable)
}

function variableOf(name: string): string {
  const variable = `PETSTORE_${name.toUpperCase().replaceAll('-', '_')}`
  // Many hosting services set PORT, so PORT sets the port if PETSTORE_PORT is not set.
  return name === 'port' && process.env.PORT && !process.env[variable] ? 'PORT' : variable
}

function planLimits(): Option {
  const description = 'limits of a plan, such as free=10/100; may be repeated'
  return flag('--plan-limits <plan=minute/day...>', description, parsePlanLimits).default({}, 'those of the plans')
}

/**
 * Adds a parser to a flag or an argument. Errors never contain the value, which may be a secret. So `InvalidArgumentError` is not
 * used: commander would put the value before its message.
 */
function parsed<Target extends Option | Argument>(
  target: Target,
  parse: (text: string, previous: never) => unknown,
  variable = '',
): Target {
  const name = target instanceof Option ? `option '${target.flags}'` : `argument '${target.name()}'`
  target.argParser((text: string, previous: unknown) => {
    try {
      return parse(text, previous as never)
    } catch (error) {
      const source = text === process.env[variable] ? ` from env '${variable}'` : ''
      throw new Error(`${name}${source} is invalid. ${(error as Error).message}`)
    }
  })
  return target
}

function addPlaceFlags(command: Command): Command {
  return command
    .addOption(flag('--data <file>', 'store everything in this SQLite file', parseFile))
    .addOption(flag('--database-url <url>', 'store everything in this PostgreSQL database'))
    .hook('preAction', (_, action) => preferTyped(action, 'data', 'databaseUrl'))
}

/** If one of several flags is on the command line, ignores the others that environment variables have set. */
function preferTyped(command: Command, ...names: readonly string[]): void {
  const isTyped = (name: string) => command.getOptionValueSource(name) === 'cli'
  if (!names.some(isTyped)) return
  for (const name of names) if (!isTyped(name)) command.setOptionValue(name, undefined)
}
