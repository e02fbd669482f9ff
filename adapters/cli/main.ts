#!/usr/bin/env node
import { createRequire } from 'node:module'
import { Argument, Command } from 'commander'
import { keyStates, MAX_LIMIT } from '../../src/model.ts'
import { DEFAULT_BODY_LIMIT } from '../../src/options.ts'
import { overlap } from '../../src/schemas/key.ts'
import { positiveInteger, wholeNumber } from '../../src/schemas/options.ts'
import { seed } from '../../src/testing/store/fault-list.ts'
import { portNumber } from '../hosts/node/serve.ts'
import { runBackup } from './backup.ts'
import { runCopy } from './copy.ts'
import { runKeysImport } from './keys/import.ts'
import { runIssue, runResume, runRevoke, runRotate, runSuspend, runUnban, runUpdate, runUsage } from './keys/keys.ts'
import { runList } from './keys/list.ts'
import { runPurge } from './keys/purge.ts'
import { runOpenApi } from './openapi/openapi.ts'
import { runExport } from './pets/export.ts'
import { FORMATS } from './pets/files.ts'
import { runImport } from './pets/import.ts'
import { runPetsAdd, runPetsCount, runPetsGet, runPetsList, runPetsRemove, runPetsUpdate } from './pets/pets.ts'
import { runServe } from './serve/serve.ts'
import { add, flag, option, preferTyped } from './terminal/command.ts'
import * as flags from './terminal/flags.ts'
import { fail, survivePipes } from './terminal/output.ts'

const { version } = createRequire(import.meta.url)('../package.json') as { version: string }

survivePipes()
// Other users of the machine must not read new files, such as a database with accounts and token
// hashes.
process.umask(process.umask(0o077) | 0o007)

/** The secrets in the flags of the running command. No error message may contain them. */
let secrets: readonly string[] = []
const program = createProgram()
try {
  await program.parseAsync()
} catch (error) {
  // The exit code 1 of `check` means that the server fails the check, so after any other error,
  // `check` exits with 2.
  fail(error, program.args[0] === 'check' ? 2 : 1, secrets)
}

function createProgram(): Command {
  const program = new Command('petstore')
    .description('A complete pet store API.')
    .version(version)
    .exitOverride()
    .configureOutput({ outputError: () => {} })
    .hook('preAction', (_, command) => {
      preferTyped(command, 'data', 'databaseUrl')
      secrets = flags.secretsOf(command.opts())
    })

  const database = [
    flag('--data <file>', 'SQLite file for animals, keys and counts', flags.parseFile),
    flag('--database-url <url>', 'PostgreSQL database for animals, keys and counts'),
  ]
  const port = flags.wholeNumber(portNumber)
  // Without a maximum, a mistyped number could fill the memory.
  const demoAnimals = flags.wholeNumber(wholeNumber(0, 1_000_000))
  const basePath = flag('--base-path <path>', 'path under which clients see the API').default('/v1')
  const redisUrl = flag('--redis-url <url>', 'Redis for the counts alone')
  const planLimits = flag(
    '--plan-limits <plan=minute/day...>',
    'limits of a plan, such as free=10/100; may be repeated',
    flags.parsePlanLimits,
  ).default({}, 'the usual limits of each plan')

  add(program, 'serve', 'start the API on this machine: in memory, in a SQLite file or in PostgreSQL', runServe, [
    ...database,
    redisUrl,
    flag('-p, --port <number>', 'port to listen on, 0 for any free port; PORT works too', port).default(3000),
    flag('--host <address>', 'address to listen on', flags.parseHost).default('127.0.0.1'),
    basePath,
    flag('--public-url <url>', 'public address, for absolute links'),
    flag(
      '--cors [origins]',
      'let web pages of all origins, or of a comma-separated list, call the API',
      flags.parseOrigins,
    ).preset('*'),
    flag(
      '--trust-proxy <proxies>',
      'number of proxies in front, or a comma-separated list of their addresses and CIDR ranges',
      flags.parseTrustProxy,
    ),
    flag(
      '--body-limit <bytes>',
      `largest request body (default: ${DEFAULT_BODY_LIMIT})`,
      flags.wholeNumber(positiveInteger),
    ),
    flag('--sunset <policy>', 'enforce or announce the removal of getPet on 5 December 2030', flags.parseSunset),
    planLimits,
    flag('--key <plan=token...>', 'fixed key for development, such as pro=my-token; may be repeated', flags.parseKeys),
    flag('--insecure-keys', 'allow --key on an address that other machines reach'),
    flag('--demo', 'add demo animals and keys to an empty file or database (a store in memory always gets them)'),
    flag('--seed <number>', 'demo animals for an empty store (default: 8 in memory or with --demo)', demoAnimals),
    flag('--pets <file>', 'animals of a store in memory: JSON array, JSON lines or CSV', flags.parseFile),
    flag('--standard-rate-limit-headers', 'add RateLimit and RateLimit-Policy to each response'),
    flag('--request-id', 'add X-Request-Id to each response, the id of the client or a new one'),
    flag('--read-only', 'respond to creates with 503 and Retry-After, for example during a move'),
    flag('--log [format]', 'print a line for each request: text or json', flags.parseLogFormat).preset('text'),
    flag('--json', 'print the addresses and demo keys as one line of JSON'),
    flag(
      '--drain-delay <seconds>',
      'how long /ready responds with 503 before the server closes (default: 5, but 0 at a terminal or in memory)',
      flags.parseSeconds,
    ),
    flag('--delay <milliseconds>', 'delay each response, such as 300 or 100-800', flags.parseDelay),
    flag('--fail <chance>', 'let requests fail with 503, such as 0.1 for every tenth', flags.parseChance),
    flag('--fault-seed <number>', 'repeat the delays and failures of an earlier run', flags.wholeNumber(seed)),
    flag('--control-port <number>', 'port of the control API of a test double, 0 for any free port', port),
    flag('--control-host <address>', 'address of the control API (default: 127.0.0.1)', flags.parseHost),
    flag(
      '--control-secret <secret>',
      'secret in the address of the control API (default: a new one at each start)',
      flags.parseControlSecret,
    ),
    flag('--insecure-control', 'allow --control-secret on an address that other machines reach'),
  ])

  add(program, 'openapi', 'print the OpenAPI document of the API', runOpenApi, [
    option('--public-url <url>', 'public address of the server'),
    basePath,
    planLimits,
  ])

  const pets = program.command('pets').description('list, add, change, remove, import and export animals')
  const petId = new Argument('<id>', 'id of the animal, such as 5').argParser(flags.parsePetId)
  const name = option('--name <name>', 'name of the animal', flags.parsePetName)
  const categoryId = option('--category-id <id>', 'category of the animal', flags.parseCategoryId)
  const status = option('--status <status>', 'available, pending or sold', flags.parseStatus)
  const onlyStatus = option('--status <status>', 'only animals that are available, pending or sold', flags.parseStatus)
  const ifStatus = option('--if-status <status>', 'change nothing unless the animal has this status', flags.parseStatus)
  const petJson = option('--json', 'print JSON')
  add(pets, 'list', 'list animals', runPetsList, [
    ...database,
    onlyStatus,
    option('--after <id>', 'only animals with a greater id', flags.parsePetId),
    option('--limit <number>', 'largest number of animals', flags.wholeNumber(wholeNumber(1, MAX_LIMIT))).default(20),
    petJson,
  ])
  add(pets, 'get', 'show an animal', runPetsGet, [petId, ...database, petJson])
  add(pets, 'add', 'add an animal', runPetsAdd, [
    ...database,
    option('--name <name>', 'name of the animal', flags.parsePetName).makeOptionMandatory(),
    option('--category-id <id>', 'category of the animal', flags.parseCategoryId).makeOptionMandatory(),
    status,
    petJson,
  ])
  add(pets, 'update', 'change an animal in one step', runPetsUpdate, [
    petId,
    ...database,
    name,
    categoryId,
    status,
    ifStatus,
    petJson,
  ])
  add(pets, 'remove', 'remove an animal; its id is never given again', runPetsRemove, [
    petId,
    ...database,
    ifStatus,
    petJson,
  ])
  add(pets, 'count', 'print the number of animals', runPetsCount, [...database, onlyStatus, petJson])
  const format = option('--format <format>', 'json, jsonl or csv (default: by the name of the file)').choices(FORMATS)
  add(pets, 'import', 'add the animals of a file; run it again if it was interrupted', runImport, [
    new Argument('<file>', 'JSON array, JSON lines or CSV; - for standard input'),
    ...database,
    format,
    option('--skip-invalid', 'add the other animals if some are wrong (default: none is added)'),
    option('--keep-ids', 'add the animals with the ids of the file; existing ids are left out'),
    option('--again <name>', 'add the animals of this file once more, once for each name', flags.parseAgain),
  ])
  add(pets, 'export', 'write all animals to a file', runExport, [
    new Argument('[file]', 'new file; - for standard output').default('-'),
    ...database,
    format,
    onlyStatus,
  ])

  const keys = program.command('keys').description('issue, change, list and revoke API keys')
  const id = new Argument('<id>', 'id of the key, such as key_…; petstore keys list prints it')
  const account = option('--account <name>', 'account of the key; its keys are counted together')
  const label = option('--label <text>', 'note for the list of keys')
  const limits = option('--limits <minute/day>', 'limits for this key only, such as 10/100', flags.parseLimits)
  const expires = option(
    '--expires <time>',
    'when the key expires, such as 2030-01-31 or 2030-01-31T12:00Z',
    flags.parseTime,
  )
  const readOnly = option('--read-only', 'let the key only read: each create gets 403')
  const plan = 'free, pro, business, or a plan with --limits or --plan-limits, such as enterprise'
  const issuedJson = option('--json', 'print the token and the key as JSON')
  add(keys, 'issue', 'issue a key, and print its token', runIssue, [
    ...database,
    option('--plan <plan>', plan).makeOptionMandatory(),
    account,
    label,
    limits,
    readOnly,
    expires,
    planLimits,
    issuedJson,
  ])
  add(keys, 'update', 'change a key; its token stays the same', runUpdate, [
    id,
    ...database,
    option('--plan <plan>', 'new plan; limits from --limits stay, unless --no-limits is given'),
    account,
    option('--no-account', 'remove the account, so that the key is counted alone'),
    label,
    option('--no-label', 'remove the note'),
    limits,
    option('--no-limits', "remove the key's own limits; needs --plan"),
    readOnly,
    option('--no-read-only', 'let the key also add animals'),
    expires,
    option('--no-expires', 'let the key be valid until it is revoked'),
    planLimits,
    option('--json', 'print the changed key as JSON'),
  ])
  add(keys, 'list', 'list the keys, the oldest first, without tokens', runList, [
    ...database,
    option('--account <name>', 'only keys of this account'),
    option('--state <state>', 'only keys in this state').choices(keyStates),
    option('--json', 'print JSON'),
  ])
  add(keys, 'rotate', 'give a key a new token, and print it', runRotate, [
    id,
    ...database,
    option('--overlap <seconds>', 'how long the previous token stays valid', flags.wholeNumber(overlap)).default(0),
    issuedJson,
  ])
  add(keys, 'suspend', 'reject the requests of a key until it is resumed', runSuspend, [id, ...database])
  add(keys, 'resume', 'end the suspension of a key', runResume, [id, ...database])
  add(keys, 'revoke', 'revoke a key, or with - all keys whose ids are on standard input', runRevoke, [id, ...database])
  add(keys, 'purge', 'remove the keys that expired or were revoked before a day', runPurge, [
    ...database,
    option('--ended-before <day>', 'the day, such as 2030-01-31', flags.parseTime).makeOptionMandatory(),
  ])
  add(
    keys,
    'import',
    'add keys for tokens that customers use already; run it again if it was interrupted',
    runKeysImport,
    [
      new Argument('<file>', 'JSON lines such as {"tokenSha256":"…","plan":"pro"}; - for standard input'),
      ...database,
      planLimits,
    ],
  )
  add(keys, 'usage', 'show what a key has used of its limits, without counting a request', runUsage, [
    id,
    ...database,
    redisUrl,
    planLimits,
    option('--json', 'print JSON'),
  ])
  add(keys, 'unban', 'end the ban of a key, and let its counts begin at zero', runUnban, [id, ...database, redisUrl])

  add(program, 'backup', 'copy a SQLite file, even while a server uses it; for PostgreSQL, use pg_dump', runBackup, [
    new Argument('<file>', 'name of the copy, a new file').argParser(flags.parseFile),
    flag('--data <file>', 'the SQLite file to copy', flags.parseFile),
  ])

  const store = 'SQLite file, or URL of a PostgreSQL database'
  add(program, 'copy', 'make one store equal to another: animals, keys, idempotency keys, counts and bans', runCopy, [
    flag('--from <store>', `the source: ${store}`, flags.parseStore).makeOptionMandatory(),
    flag(
      '--to <store>',
      `the target, which loses what the source does not have: ${store}`,
      flags.parseStore,
    ).makeOptionMandatory(),
    option('--verify', 'only compare, and exit with 1 if there is a difference'),
    option('--json', 'print JSON'),
  ])

  const runCheck = async (...args: Parameters<typeof import('./check.ts').runCheck>) =>
    (await import('./check.ts')).runCheck(...args)
  const token = flags.parseToken
  const url = 'address of the API with its version, such as http://127.0.0.1:3000/v1'
  add(
    program,
    'check',
    'check that a server responds as the store does; the animals that the check adds stay',
    runCheck,
    [
      new Argument('<url>', url).argParser(flags.parseServerUrl),
      flag('--key <token>', 'token of a key, preferably of the plan pro', token, 'CHECK_').makeOptionMandatory(),
      flag(
        '--limited-key <token>',
        'token of a key whose limit the check may use up, to test the 429',
        token,
        'CHECK_',
      ),
      flag('--read-only-key <token>', 'token of a key that may only read, to test the 403', token, 'CHECK_'),
      option('--timeout <seconds>', 'how long a response may take', flags.wholeNumber(wholeNumber(1, 600))).default(10),
      option('--json', 'print one line of JSON'),
    ],
  )
  return program
}
