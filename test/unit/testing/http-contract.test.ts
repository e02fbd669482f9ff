import { afterEach, describe, expect, test, vi } from 'vitest'
import { contractClient } from '../../../src/testing/http-contract/client.ts'
import { type HttpContractRow, httpContractRows } from '../../../src/testing/http-contract/rows.ts'
import { createTestPetStore, httpContract } from '../../../src/testing/index.ts'

afterEach(() => void vi.useRealTimers())

const store = await createTestPetStore()
const { token: limitedToken } = await store.keyStore.issue({ plan: 'free' })
httpContract(
  { describe, test },
  { baseUrl: 'http://localhost/v1', token: store.token, limitedToken, fetch: store.fetch },
)

/** Runs one row against a store of its own whose responses are changed on their way. */
async function runRow(row: HttpContractRow, change: (response: Response) => Response | Promise<Response> = (r) => r) {
  const { token, fetch } = await createTestPetStore()
  const changed = async (url: string, init: RequestInit) => change(await fetch(url, init))
  await row.check(contractClient({ baseUrl: 'http://localhost/v1', token, limitedToken: token, fetch: changed }))
}

const rowOf = (title: string) => httpContractRows.find((row) => row.title.startsWith(title)) as HttpContractRow
const json = (body: string, status = 200) =>
  new Response(body, { status, headers: { 'content-type': 'application/json' } })
const without =
  (...names: string[]) =>
  (response: Response) => {
    for (const name of names) response.headers.delete(name)
    return response
  }
const rounded = async (response: Response) => {
  const { status, headers } = response
  return new Response(JSON.stringify(JSON.parse((await response.text()) || 'null')), { status, headers })
}

describe('rows of the HTTP contract', () => {
  test('stay below 60 requests with one key', async () => {
    const { token, fetch, requests } = await createTestPetStore()
    const client = contractClient({ baseUrl: 'http://localhost/v1', token, fetch })
    for (const row of httpContractRows) if (!row.needsLimitedKey) await row.check(client)
    expect(requests.some(({ response }) => response?.status === 429)).toBe(false)
    expect(requests.length).toBeLessThan(60)
  })

  test.each(httpContractRows)('fails against a server that always responds []: $title', async (row) => {
    await expect(runRow(row, () => json('[]'))).rejects.toThrow(Error)
  })

  test.each([
    ['adds an animal', without('content-type')],
    ['keeps integers', rounded],
    ['sends the three', without('x-ratelimit-reset')],
    ['leads from page', without('link')],
    ['leads from page', without('x-next-cursor')],
    ['tells a missing key', without('www-authenticate')],
    ['responds 404 to an unknown path', without('allow')],
    ['announces the removal', without('sunset')],
    ['announces the removal', without('deprecation')],
    ['refuses a request over', without('retry-after')],
    ['rejects an invalid key', (response: Response) => new Response('{}', response)],
  ] as const)('notices a change: %s', async (title, change) => {
    await runRow(rowOf(title))
    await expect(runRow(rowOf(title), change)).rejects.toThrow(Error)
  })

  test('wait for the end of a window that is used up already', async () => {
    vi.useFakeTimers({ now: Date.UTC(2030, 0, 1, 0, 0, 30) })
    const { token, request, fetch } = await createTestPetStore({ clock: Date })
    for (let i = 0; i < 60; i++) await request('/pets')
    const checked = rowOf('adds an animal').check(contractClient({ baseUrl: 'http://localhost/v1', token, fetch }))
    await vi.advanceTimersByTimeAsync(30_000)
    await checked
  })

  test('do not wait for the end of a ban', async () => {
    const { token, request, fetch } = await createTestPetStore()
    for (let i = 0; i < 120; i++) await request('/pets')
    const client = contractClient({ baseUrl: 'http://localhost/v1', token, fetch })
    await expect(rowOf('adds an animal').check(client)).rejects.toThrow(/longer than 60 seconds/)
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

  test('leave out the row of the limited key, and those of decisions', () => {
    expect(titlesOf({}).length).toBe(httpContractRows.length - 1)
    expect(titlesOf({ limitedToken: 'y' }).length).toBe(httpContractRows.length)
    const statements = httpContractRows.filter(({ basis }) => basis === 'contract')
    expect(titlesOf({ limitedToken: 'y', basis: 'contract' })).toEqual(statements.map(({ title }) => title))
  })

  test.each([['baseUrl', { baseUrl: '/v1' }] as const, ['token', { token: '' }] as const])(
    'name %s in the error',
    (name, options) => {
      expect(() => titlesOf(options)).toThrow(new RegExp(`^option ${name}: `))
    },
  )
})
