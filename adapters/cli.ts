#!/usr/bin/env node
import { createRequire } from 'node:module'
import { Command, InvalidArgumentError } from 'commander'
import { fail } from './cli/fail.ts'
import { parseHost, parsePlanLimits, parsePort, parseSeed } from './cli/flags.ts'
import { runServe } from './cli/serve.ts'

const { version } = createRequire(import.meta.url)('../package.json') as { version: string }

const program = new Command('petstore').description('A complete pet store API.').version(version)

// Before any command is added: each takes these settings over when it is made.
program.exitOverride().configureOutput({ outputError: () => {} })

program
  .command('serve')
  .description('start the API on this machine, in memory, with demo animals and one key per plan')
  .option('-p, --port <number>', 'port to listen on; 0 for any that is free', asArgument(parsePort), 3000)
  .option('--host <address>', 'address to listen on', asArgument(parseHost), '127.0.0.1')
  .option('--base-path <path>', 'path under which clients see the API', '/v1')
  .option('--seed <number>', 'how many demo animals to add', asArgument(parseSeed), 8)
  .option(
    '--plan-limits <plan=minute/day...>',
    'limits of a plan, such as free=10/100; may be repeated',
    asArgument(parsePlanLimits),
    {},
  )
  .option('--log', 'print a line for each request')
  .action(runServe)

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
