import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { format, inspect } from 'node:util'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { runCheck } from '../../../adapters/cli/check.ts'
import { logTo } from '../../../adapters/cli/log.ts'
import { fail, printError } from '../../../adapters/cli/output.ts'
import { logRequests } from '../../../adapters/cli/page/request-log.ts'
import { createPetStoreClient } from '../../../src/client/index.ts'
import { type ApiRequest, createPetStore, memory, PetStoreError } from '../../../src/index.ts'
import { newToken } from '../../../src/keys/token.ts'
import { temporaryFolder } from '../../conformance/sqlite/open.ts'
import { runCommand } from '../../support/petstore-command.ts'

const token = newToken()
/** A token for `--key`. It does not begin with `pet_`, so the code that masks tokens must know it. */
const fixed = 'dev.key~0123456789/abc+def'

const hex = (unit: string, length = 2) => unit.charCodeAt(0).toString(16).padStart(length, '0')
type Encode = (text: string) => string
/** Ways to write a character. */
const percents: readonly Encode[] = [(unit) => `%${hex(unit)}`, (unit) => `%${hex(unit).toUpperCase()}`]
const entities: readonly Encode[] = [(unit) => `&#${unit.charCodeAt(0)};`, (unit) => `&#x${hex(unit)};`]
const backslashes: readonly Encode[] = [
  (unit) => `\\u00${hex(unit)}`,
  (unit) => `\\u00${hex(unit).toUpperCase()}`,
  (unit) => `\\x${hex(unit)}`,
  (unit) => `\\u{${hex(unit, 4)}}`,
]
const escapesOfUrls = [...percents, (unit: string) => `%u00${hex(unit)}`, ...entities]
/** Ways to encode a text: each character, or some of them. */
const encodings = (escapes: readonly Encode[]) =>
  fc.oneof(
    fc.constantFrom(...escapes).map((encode) => (text: string) => text.replace(/./gs, encode)),
    fc.tuple(fc.constantFrom(...escapes), fc.infiniteStream(fc.boolean())).map(
      ([encode, isEncoded]) =>
        (text: string) =>
          text.replace(/./gs, (unit) => (isEncoded.next().value ? encode(unit) : unit)),
    ),
    fc.constantFrom(
      (text: string) => text,
      encodeURIComponent,
      (text: string) => JSON.stringify(text).slice(1, -1),
      (text: string) => text.replaceAll('/', '\\/'),
      (text: string) => text.replaceAll('&', '&amp;'),
      (text: string) => `${text.slice(0, 9)}%0a${text.slice(9)}`,
    ),
  )
const secret = fc
  .tuple(
    fc.constantFrom(token, fixed),
    fc.oneof(
      fc.tuple(encodings(escapesOfUrls), encodings([...escapesOfUrls, ...backslashes])),
      fc.tuple(encodings(backslashes), encodings(escapesOfUrls)),
      fc.array(encodings(percents), { maxLength: 3 }),
    ),
  )
  .map(([text, steps]) => steps.reduce((encoded, encode) => encode(encoded), text))
const hidden = fc.constantFrom(
  '\u0000',
  '\u001b[31m',
  '\u009b',
  '\u0085',
  '\u2028',
  '\u202e',
  '\u200b',
  '\ud800',
  '\u{e0041}',
  '\u007f',
)
const other = fc.constantFrom(
  '/',
  '%',
  '\\',
  '"',
  '@',
  ':',
  '?',
  '#',
  '\n',
  '\t',
  ' ',
  'pet_',
  '%25',
  'a'.repeat(60),
  '{',
  ',',
)
const padding = fc.nat(1_200).map((length) => 'x'.repeat(length))
/** Random texts with tokens and hidden characters, such as an attacker may send. */
const text = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: secret },
      { weight: 3, arbitrary: hidden },
      { weight: 4, arbitrary: other },
      { weight: 1, arbitrary: padding },
      fc.string({ unit: 'binary' }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''))

const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u

/** Decodes a text like a very lenient client: replaces each escape by its character until no escape is left. */
function decode(text: string): string {
  const plain = text
    .replace(/(?:%(?:u00)?|\\+u00|\\+x)([0-9a-f]{2})|(?:\\+u\{|&#x)0*([0-9a-f]{1,2})[};]/gi, (_, two, one) =>
      String.fromCharCode(Number.parseInt(two ?? one, 16)),
    )
    .replace(/&#0*(\d{1,3});/g, (_, code) => String.fromCharCode(code))
    .replaceAll('&amp;', '&')
    .replace(/[\0- ]/g, '')
  return plain === text ? text.replaceAll('\\', '') : decode(plain)
}

/** Has `%23` in place of each `#`: the `#` of an escape such as `&#x41;` would end the target in the middle of a token. */
const target = text.map((text) => text.replaceAll('#', '%23'))

/** Fails if a text contains `length` successive characters of a token, or a hidden character except line breaks and tabs. */
function expectReadable(output: string, secrets: readonly string[], length = 12): void {
  const plain = decode(output).toLowerCase()
  for (const one of secrets)
    for (let i = 4; i + length <= one.length; i++) expect(plain).not.toContain(one.slice(i, i + length).toLowerCase())
  expect(output.replace(/[\n\t]/g, '')).not.toMatch(HIDDEN)
}

let output = ''
beforeEach(() => {
  const print = (...values: unknown[]) => {
    output += `${format(...values)}\n`
  }
  for (const method of ['log', 'error', 'warn'] as const) vi.spyOn(console, method).mockImplementation(print)
})
afterEach(() => vi.restoreAllMocks())

/** Runs a task, and returns what it prints. */
async function printed(task: () => unknown): Promise<string> {
  output = ''
  await task()
  return output
}

const error = fc
  .record({
    message: text,
    detail: text,
    inner: text,
    kind: fc.constantFrom(
      'plain',
      'cause',
      'errors',
      'members',
      'string',
      'service_unavailable',
      'untrusted_forwarded_for',
      'stack',
      'name',
      'nested',
    ),
  })
  .map(({ message, detail, inner, kind }): unknown => {
    switch (kind) {
      case 'string':
        return message
      case 'cause':
        return new Error(message, { cause: new Error(inner, { cause: detail }) })
      case 'errors':
        return new AggregateError([new Error(inner), detail], message)
      case 'members':
        return Object.assign(new Error(message), { detail, code: inner })
      case 'nested':
        return Object.assign(new Error('a'), { request: { headers: { authorization: detail, [inner]: message } } })
      case 'stack':
        return Object.assign(new Error('a'), { stack: message })
      case 'name':
        return Object.assign(new Error(message), { name: inner })
      case 'plain':
        return new Error(message)
      default:
        return new PetStoreError(kind, message, { cause: new Error(inner) })
    }
  })

test.each(['text', 'json', undefined] as const)('the command logs readable text and no token: %s', async (format) => {
  const { onError, onResponse } = logTo(format, [fixed])
  const run = fc.asyncProperty(target, text, text, error, async (target, keyId, method, error) => {
    const lines = await printed(() => {
      onError?.(error, { method: 'GET', target })
      onResponse?.({ method, target, status: 200, keyId, clientAddress: keyId, replayed: false, durationMs: 1 })
    })
    expectReadable(lines, [token, fixed])
  })
  await fc.assert(run)
})

test('the default onError prints readable text and no token', async () => {
  const run = fc.asyncProperty(target, error, error, async (target, error, failure) => {
    const { storage } = memory()
    const create = (onError?: () => void) =>
      createPetStore({
        storage: { ...storage, list: () => Promise.reject(error) },
        keyStore: { find: () => ({ id: 'a', plan: 'pro' }) },
        onError,
      })
    const request = {
      method: 'GET',
      target: `/v1/pets?limit=1#${target}`,
      header: (name: string) => (name === 'authorization' ? 'Bearer a' : undefined),
      body: async () => new Uint8Array(),
    }
    const lines = await printed(async () => {
      await create().handle(request)
      await create(() => {
        throw failure
      }).handle(request)
      create().reportError?.(error, { method: 'GET', target })
    })
    expectReadable(lines, [token])
  })
  await fc.assert(run)
})

test('the log of the page is readable and shows no token', async () => {
  const run = fc.asyncProperty(target, text, text, text, async (target, header, body, response) => {
    const store = createPetStore()
    const handle = async (request: ApiRequest) => {
      await request.body(1e6)
      return { status: 200, headers: ['Location', header, 'X', response], body: response }
    }
    const { handle: logged, requestsAfter } = logRequests(
      { ...store, handle },
      () => ({ id: 'a', plan: 'pro', label: header }),
      [fixed],
    )
    await logged({
      method: header,
      target,
      header: (name) => (name === 'authorization' ? `Bearer ${token}` : header),
      body: async () => new TextEncoder().encode(body),
    })
    const shown = requestsAfter(0)
    expectReadable(
      inspect(shown, { depth: 9, maxStringLength: null, maxArrayLength: null }).replaceAll('\\\\u00', '\\u00'),
      [token, fixed],
    )
    const texts = JSON.stringify(shown)
    expect(texts).not.toMatch(HIDDEN)
  })
  await fc.assert(run)
})

test('errors of the command are readable and show no token', async () => {
  const run = fc.asyncProperty(text, error, async (text, error) => {
    const lines = await printed(() => {
      printError(text)
      fail(error)
    })
    process.exitCode = 0
    expectReadable(lines, [token])
  })
  await fc.assert(run)
})

test('errors about hostile arguments are readable and show no token', async () => {
  const word = text.map((text) => text.replaceAll('\0', '').toWellFormed())
  const flag = fc.constantFrom(
    '--data',
    '--database-url',
    '--redis-url',
    '--key',
    '--host',
    '--trust-proxy',
    '--plan-limits',
    '--base-path',
    '--public-url',
    '--seed',
    '--log',
    '--cors',
  )
  const args = fc.oneof(
    word.map((word) => [word]),
    fc
      // No empty word: `serve --` is valid and would start the server.
      .tuple(
        fc.constantFrom('serve', 'keys', 'seed', 'check', 'openapi'),
        word.filter((word) => word !== ''),
      )
      .map(([command, word]) => [command, `--${word}`]),
    fc.tuple(flag, word).map(([flag, word]) => ['serve', '--port', 'x', `${flag}=${word}`]),
    fc.tuple(flag, word).map(([flag, word]) => ['serve', `${flag}=${word}`, '--port', 'x', word]),
    word.map((word) => ['keys', 'revoke', '--data', join(tmpdir(), 'none', word), word]),
    word.map((word) => ['keys', 'issue', '--plan', word, '--limits', word]),
    word.map((word) => ['check', word, '--key', word]),
  )
  const run = fc.asyncProperty(args, async (args) => {
    const { code, stdout, stderr } = await runCommand(args)
    expect(code).toBeGreaterThan(0)
    expectReadable(stdout + stderr, [token])
  })
  await fc.assert(run, { numRuns: 30 })
}, 60_000)

test('petstore seed and backup print hostile file names readably and without tokens', async () => {
  const { folder, remove } = temporaryFolder()
  onTestFinished(remove)
  const [file, copy] = [join(folder, '\u001b[31m\u009b.db'), join(folder, `\u202e${token}\n.db`)]
  const seeded = await runCommand(['seed', '--count', '1', '--data', file])
  const copied = await runCommand(['backup', copy, '--data', file])
  expect([seeded.stdout, copied.stdout]).toEqual([
    expect.stringContaining('Added 1'),
    expect.stringContaining('Copied'),
  ])
  expectReadable(seeded.stdout + copied.stdout, [token])
  expect(copied.stdout.trimEnd()).not.toContain('\n')
})

const response = fc
  .record({
    status: fc.constantFrom(200, 201, 302, 400, 401, 500),
    body: text,
    member: text,
    header: text,
    isJson: fc.boolean(),
  })
  .map(({ status, body, member, header, isJson }) => {
    const json = JSON.stringify({ code: isJson ? 'invalid_body' : member, message: body, status })
    const value = new TextDecoder('latin1')
      .decode(new TextEncoder().encode(header.includes('\\') ? '' : header))
      .replace(/[\0\r\n]/g, '')
    const headers = {
      Location: value,
      Link: `<${value}>; rel="next"`,
      'X-Next-Cursor': value,
      'X-RateLimit-Limit': value,
    }
    return () => new Response(isJson ? json : body, { status, headers })
  })

test('errors of the client are readable and show no token', async () => {
  const failure = error.filter((error) => !(error instanceof PetStoreError)).map((error) => () => Promise.reject(error))
  const run = fc.asyncProperty(fc.oneof(response, failure), fc.constantFrom(token, fixed), async (respond, apiKey) => {
    const client = createPetStoreClient({
      baseUrl: 'https://api.example/v1',
      apiKey,
      retry: false,
      fetch: async () => respond(),
    })
    const calls = [
      () => client.getPet(1n),
      () => client.createPet({ name: 'Rex', categoryId: 1n }),
      async () => {
        for await (const _pet of client.pets());
      },
    ]
    for (const call of calls) {
      const error: unknown = await call().catch((error) => error)
      if (!(error instanceof PetStoreError)) continue
      expectReadable(error.message, [token, apiKey])
      // The cause of a network error is the original error of `fetch`, which the client does not mask.
      if (error.code !== 'network_error') expectReadable(inspect(error), [token, apiKey])
    }
  })
  await fc.assert(run)
})

test('results of petstore check are readable and show no token', async () => {
  const run = fc.asyncProperty(response, fc.boolean(), async (respond, isJson) => {
    vi.stubGlobal('fetch', async () => respond())
    const flags = { key: token, limitedKey: fixed, timeout: 1, ...(isJson && { json: true as const }) }
    const lines = await printed(() => runCheck('http://127.0.0.1:1/v1', flags).catch(fail))
    process.exitCode = 0
    // `petstore check` shortens the texts that it quotes, and may leave 21 characters of a shortened token unmasked.
    expectReadable(lines, [token, fixed], 22)
  })
  await fc.assert(run, { numRuns: 30 })
})
