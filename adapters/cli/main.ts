#!/usr/bin/env node
import { createRequire } from 'node:module'
import { Command, InvalidArgumentError, Option } from 'commander'
import { fail } from './fail.ts'
import {
  parseFile,
  parseHost,
  parseInstant,
  parseLimits,
  parsePlanLimits,
  parsePort,
  parseSeed,
  parseWholeNumber,
} from './flags.ts'
import { runIssue, runList, runRevoke } from './keys.ts'
import { survivePipes } from './print.ts'
import { runSeed } from './seed.ts'
import { runServe } from './serve.ts'

const { version } = createRequire(import.meta.url)('../package.json') as { version: string }

// A variable that is empty, as a file of settings may leave it, is as good as none.
for (const name of ['PETSTORE_DATA', 'PETSTORE_DATABASE_URL', 'PETSTORE_REDIS_URL'])
  if (process.env[name] === '') delete process.env[name]

survivePipes()
// A file that the command creates holds customers and what their tokens hash to: it is nobody else's to read.
process.umask(process.umask(0o077) | 0o007)

const program = new Command('petstore')
  .description('A complete pet store API.')
  .version(version)
  .exitOverride()
  .configureOutput({ outputError: () => {} })

placed(program.command('serve'))
  .description('start the API on this machine: in memory, or in a file or a database that outlives it')
  .addOption(new Option('--redis-url <url>', 'count requests in Redis').env('PETSTORE_REDIS_URL'))
  .option('-p, --port <number>', 'port to listen on; 0 for any that is free', asArgument(parsePort), 3000)
  .option('--host <address>', 'address to listen on', asArgument(parseHost), '127.0.0.1')
  .option('--base-path <path>', 'path under which clients see the API', '/v1')
  .option(
    '--seed <number>',
    'how many demo animals an empty store gets (default: 8, with --database-url 0)',
    asArgument(parseSeed),
  )
  .addOption(
    new Option('--plan-limits <plan=minute/day...>', 'limits of a plan, such as free=10/100; may be repeated')
      .argParser(asArgument(parsePlanLimits))
      .default({}, 'those of the plans'),
  )
  .option('--log', 'print a line for each request')
  .action(runServe)

const keys = program.command('keys').description('issue, list and revoke API keys')
placed(keys.command('issue'))
  .description('issue a key, and print its token')
  .requiredOption('--plan <plan>', 'free, pro, business, enterprise (with --limits), or a plan of your own')
  .option('--account <name>', 'keys with the same account share one allowance')
  .option('--label <text>', 'a note for whoever reads the list of keys')
  .option('--limits <minute/day>', 'limits of this key alone, such as 10/100', asArgument(parseLimits))
  .option('--expires <date>', 'from when on the key is refused, such as 2030-01-31', asArgument(parseInstant))
  .action(runIssue)
placed(keys.command('list'))
  .description('list every key ever issued; tokens are kept nowhere')
  .option('--json', 'print JSON')
  .action(runList)
placed(keys.command('revoke'))
  .description('revoke a key')
  .argument('<id>', 'the id of the key, such as key_…, as list shows it')
  .action(runRevoke)

placed(program.command('seed'))
  .description('fill a catalogue with demo animals; one that was broken off is taken up where it stopped')
  .requiredOption('--count <number>', 'how many animals there are to be in all', asArgument(parseWholeNumber))
  .action(runSeed)

try {
  await program.parseAsync()
} catch (error) {
  fail(error)
}

/** Lets commander name the flag that a wrong value was given to. */
function asArgument<T>(parse: (text: string, previous: T) => T): (text: string, previous: T) => T {
  return (text, previous) => {
    try {
      return parse(text, previous)
    } catch (error) {
      throw new InvalidArgumentError((error as Error).message)
    }
  }
}

/** Adds the flags that say where everything is kept. A password in a variable is not in the list of processes. */
function placed(command: Command): Command {
  return command
    .addOption(
      new Option('--data <file>', 'keep everything in this SQLite file')
        .env('PETSTORE_DATA')
        .argParser(asArgument(parseFile)),
    )
    .addOption(
      new Option('--database-url <url>', 'keep everything in this PostgreSQL database').env('PETSTORE_DATABASE_URL'),
    )
    .hook('preAction', (_, action) => preferGiven(action, 'data', 'databaseUrl'))
}

/** Of two flags that exclude one another, the one that was typed stands in for the one that a variable gives. */
function preferGiven(command: Command, ...names: readonly string[]): void {
  const isTyped = (name: string) => command.getOptionValueSource(name) === 'cli'
  if (!names.some(isTyped)) return
  for (const name of names) if (!isTyped(name)) command.setOptionValue(name, undefined)
}
