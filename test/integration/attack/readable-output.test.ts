import { format, inspect } from 'node:util'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { runCheck } from '../../../adapters/cli/check.ts'
import { logRequests } from '../../../adapters/cli/page/request-log.ts'
import { logTo } from '../../../adapters/cli/serve/log.ts'
import { fail } from '../../../adapters/cli/terminal/output.ts'
import { createPetStoreClient } from '../../../src/client/index.ts'
import { type ApiRequest, createPetStore, memory, PetStoreError } from '../../../src/index.ts'
import { newToken } from '../../../src/keys/token.ts'
import { adapterFunctionsOf } from '../../../src/reports/adapter-functions.ts'

const token = newToken()
/** A token for `--key`. It does not begin with `pet_`, so the code that masks tokens must know it. */
const fixed = 'dev.key~0123456789/abc+def'
const password = `it's"a\`s3cret`
const url = `postgres://app:${password}@db/pets`

const part = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(token, fixed, url) },
  fc.constantFrom('\0', '\u001b[31m', '\u009b', '\u2028', '\u202e', '\u200b', '\ud800', '\u{e0041}', '\r\n', '\t'),
  fc.constantFrom('/', '%', '\\', '"', '@', ':', '?', ' ', 'pet_', '\\'.repeat(2_000), 'x'.repeat(180)),
  fc.string({ unit: 'binary' }),
)
/** Random texts with secrets and hidden characters, such as an attacker may send. */
const text = fc.array(part, { maxLength: 9 }).map((parts) => parts.join(''))
const target = text.map((text) => `/v1/pets?limit=${text.replaceAll('#', '')}`)
const error = fc.tuple(text, text, text).map(([message, detail, inner]) =>
  Object.assign(new AggregateError([new Error(inner)], message, { cause: new Error(detail, { cause: inner }) }), {
    detail,
  }),
)

/** Fails if a text contains a part of a secret, or a hidden character except line breaks and tabs. */
function expectReadable(output: string, secrets: readonly string[]): void {
  for (const secret of secrets) expect(output).not.toContain(secret.slice(4, 16))
  expect(output.replace(/[\n\t]/g, '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
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

test.each(['text', 'json', undefined] as const)('the command logs readable text and no secret: %s', async (format) => {
  const { onError, onResponse } = logTo(format, [fixed])
  const run = fc.asyncProperty(target, text, error, async (target, text, error) => {
    const lines = await printed(() => {
      onError?.(error, { method: 'GET', target })
      onError?.(new PetStoreError('untrusted_forwarded_for', text), {})
      const about = { method: text, target, keyId: text, clientAddress: text }
      onResponse?.({ ...about, status: 200, replayed: false, durationMs: 1 })
    })
    expectReadable(lines, [token, fixed, password])
  })
  await fc.assert(run)
})

test('the default onError prints readable text and no secret', async () => {
  const run = fc.asyncProperty(target, error, error, async (target, error, failure) => {
    const { storage } = memory()
    const create = (onError?: () => void) =>
      createPetStore({
        storage: { ...storage, list: () => Promise.reject(error) },
        keyStore: { find: () => ({ id: 'a', plan: 'pro' }) },
        onError,
      })
    const header = (name: string) => (name === 'authorization' ? 'Bearer a' : undefined)
    const request = { method: 'GET', target: '/v1/pets', header, body: async () => new Uint8Array() }
    const lines = await printed(async () => {
      await create().handle(request)
      await create(() => {
        throw failure
      }).handle(request)
      adapterFunctionsOf(create()).reportError(error, { method: 'GET', target })
    })
    expectReadable(lines, [token, password])
  })
  await fc.assert(run)
})

test('the log of the page is readable and shows no secret', async () => {
  const run = fc.asyncProperty(target, text, async (target, text) => {
    const store = createPetStore()
    const handle = async (request: ApiRequest) => {
      await request.body(1e6)
      return { status: 200, headers: ['Location', text], body: text }
    }
    const keyOf = () => ({ id: 'a', plan: 'pro', label: text })
    const { handle: logged, entriesAfter } = logRequests({ ...store, handle }, keyOf, [fixed])
    const header = (name: string) => (name === 'authorization' ? `Bearer ${token}` : text)
    await logged({ method: text, target, header, body: async () => new TextEncoder().encode(text) })
    const shown = inspect(entriesAfter(0), { depth: 9, maxStringLength: null, maxArrayLength: null })
    expectReadable(shown, [token, fixed, password])
  })
  await fc.assert(run)
})

const response = fc.record({ status: fc.constantFrom(200, 302, 400, 401, 500), body: text, isJson: fc.boolean() })

function respond({ status, body, isJson }: { status: number; body: string; isJson: boolean }): Response {
  const json = JSON.stringify({ code: isJson ? 'invalid_body' : body, message: body, status })
  return new Response(isJson ? json : body, { status, headers: { Location: url, Link: `<${url}>; rel="next"` } })
}

test.each([token, fixed])('errors of the client are readable and show no secret: %s', async (apiKey) => {
  const failures = fc.oneof(
    response.map((one) => async () => respond(one)),
    error.map((one) => async () => Promise.reject(one)),
  )
  const run = fc.asyncProperty(failures, async (fetch) => {
    const client = createPetStoreClient({ baseUrl: 'https://api.example/v1', apiKey, retry: false, fetch })
    for (const call of [() => client.getPet(1n), () => client.createPet({ name: 'Rex', categoryId: 1n })]) {
      const error: unknown = await call().catch((error) => error)
      if (error instanceof PetStoreError) expectReadable(error.message, [token, apiKey, password])
    }
  })
  await fc.assert(run)
})

test('results of petstore check are readable and show no secret', async () => {
  onTestFinished(() => {
    process.exitCode = 0
  })
  const run = fc.asyncProperty(response, fc.boolean(), async (one, isJson) => {
    vi.stubGlobal('fetch', async () => respond(one))
    const flags = { key: token, limitedKey: fixed, timeout: 1, ...(isJson && { json: true as const }) }
    const lines = await printed(() =>
      runCheck('http://127.0.0.1:1/v1', flags).catch((error) => fail(error, 2, [token, fixed])),
    )
    expectReadable(lines, [token, fixed, password])
  })
  await fc.assert(run, { numRuns: 30 })
})
