import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { operationNames } from '../../../../../src/operations.ts'
import { createTestPetStore, httpContract } from '../../../../../src/testing/index.ts'
import { contractClient } from '../../../../../src/testing/suites/http/client.ts'
import type { HttpRule } from '../../../../../src/testing/suites/http/rule.ts'
import { httpRules } from '../../../../../src/testing/suites/http/suite.ts'

afterEach(() => void vi.useRealTimers())

const store = await createTestPetStore({ plan: 'pro' })
const { token: limitedToken } = await store.keys.issue({ plan: 'free' })
const { token: readOnlyToken } = await store.keys.issue({ plan: 'free', access: 'read' })
httpContract(
  { describe, test },
  { baseUrl: 'http://localhost/v1', token: store.token, limitedToken, readOnlyToken, fetch: store.fetch },
)

const ruleOf = (title: string) => httpRules.find((rule) => rule.title.startsWith(title)) as HttpRule
type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** Returns a client for the rules of the HTTP contract. It also uses `token` for the rules that need a key with a low limit. */
function clientOf(fetch: Fetch, token = 'x', onWait?: (seconds: number) => void) {
  return contractClient({ baseUrl: 'http://localhost/v1', token, limitedToken: token, fetch }, onWait)
}

describe('rules of the HTTP contract', () => {
  test.each(httpRules)('the rule fails if a server always responds with {}: $title', async ({ check }) => {
    const headers = { 'Content-Type': 'application/json' }
    await expect(check(clientOf(async () => new Response('{}', { headers })))).rejects.toThrow(Error)
  })

  test('the HTTP contract suite accepts a Link with other parameters before rel', async () => {
    const { token, fetch } = await createTestPetStore()
    const client = clientOf(async (url, init) => {
      const response = await fetch(url, init)
      const link = response.headers.get('link')
      if (link !== null) response.headers.set('link', link.replace(/; rel="?(\w+)"?$/, '; title="a, b"; rel=$1'))
      return response
    }, token)
    await ruleOf('Link leads to the next page').check(client)
    await ruleOf('X-Next-Cursor and Link').check(client)
  })

  test('the HTTP contract suite succeeds with each operation', async () => {
    const succeeded = new Set<string | undefined>()
    const { token, fetch } = await createTestPetStore({
      plan: 'business',
      onResponse: ({ operation, status }) => void (status < 300 && succeeded.add(operation)),
    })
    for (const { needs, check } of httpRules) if (!needs) await check(clientOf(fetch, token))
    expect([...succeeded]).toEqual(expect.arrayContaining([...operationNames]))
  })

  test('the HTTP contract suite needs as many requests and animals as docs/command.md says', async () => {
    const { token, fetch, requests, pets } = await createTestPetStore({ plan: 'business' })
    const client = clientOf(fetch, token)
    for (const { needs, check } of httpRules) if (!needs) await check(client)
    const sent = requests.filter(({ header }) => header('authorization') === `Bearer ${token}`).length
    const animals = await pets.count()
    const document = readFileSync(join(import.meta.dirname, '../../../../../docs/command.md'), 'utf8')
    const said = document.match(/adds about (\d+) animals.*?about (\d+) requests/s) ?? []
    const toTens = (count: number) => Math.round(count / 10) * 10
    expect(said.slice(1).map(Number)).toEqual([animals, sent].map(toTens))
  })

  test('if the limit is reached, the HTTP contract suite waits for the next window', async () => {
    vi.useFakeTimers({ now: Date.UTC(2030, 0, 1, 0, 0, 30) })
    const { token, request, fetch } = await createTestPetStore({ clock: Date })
    for (let i = 0; i < 60; i++) await request('/pets')
    const waits: number[] = []
    const checked = ruleOf('adds an animal').check(clientOf(fetch, token, (seconds) => waits.push(seconds)))
    await vi.advanceTimersByTimeAsync(30_000)
    await checked
    expect(waits).toEqual([30])
  })

  test('the HTTP contract suite does not wait for the end of a ban', async () => {
    const { token, request, fetch } = await createTestPetStore()
    for (let i = 0; i < 120; i++) await request('/pets')
    await expect(ruleOf('adds an animal').check(clientOf(fetch, token))).rejects.toThrow(/has to wait 300 seconds/)
  })

  test.each([
    [
      'a date in Retry-After',
      { 'Retry-After': 'Fri, 01 Jan 2027 00:01:00 GMT', Date: 'Fri, 01 Jan 2027 00:00:00 GMT' },
      [60, 60, 60],
    ],
    ['the present time in Retry-After', { 'Retry-After': 'Fri, 01 Jan 2027 00:00:00 GMT' }, Array(180).fill(1)],
    ['no Retry-After', {}, Array(180).fill(1)],
  ])('the HTTP contract suite waits at most three minutes after a 429 with %s', async (_, headers, expected) => {
    vi.useFakeTimers({ now: Date.UTC(2027, 0, 1) })
    const waits: number[] = []
    const fetch = async () => new Response(null, { status: 429, headers: new Headers(headers) })
    const checked = ruleOf('adds an animal').check(clientOf(fetch, 'x', (seconds) => waits.push(seconds)))
    const rejected = expect(checked).rejects.toThrow(/the suite waits at most 180 seconds in all/)
    await vi.advanceTimersByTimeAsync(180_000)
    await rejected
    expect(waits).toEqual(expected)
  })
})

describe('options of the HTTP contract', () => {
  const titlesOf = (options: object) => {
    const titles: string[] = []
    httpContract(
      { describe: (_, body) => body(), test: (title) => titles.push(title) },
      { baseUrl: 'http://localhost/v1', token: 'x', ...options },
    )
    return titles
  }

  test('httpContract leaves out rules whose token is missing', () => {
    expect(titlesOf({}).length).toBe(httpRules.filter(({ needs }) => !needs).length)
    expect(titlesOf({ limitedToken: 'y', readOnlyToken: 'z' }).length).toBe(httpRules.length)
  })

  test.each([['baseUrl', { baseUrl: '/v1' }] as const, ['token', { token: '' }] as const])(
    'an invalid option is named in the error: %s',
    (name, options) => {
      expect(() => titlesOf(options)).toThrow(new RegExp(`^option ${name}: `))
    },
  )
})
