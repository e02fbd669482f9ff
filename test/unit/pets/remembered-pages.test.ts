import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ApiKey, memory, type Pet, type PlanLimits, type QuotaStore } from '../../../src/index.ts'
import { encodeCursor } from '../../../src/pets/cursor.ts'
import { rateLimit, startApi } from '../../support/api.ts'

type Mutable = { -readonly [Name in keyof Pet]: Pet[Name] }

/** What the contract says of a page, written the slow way. */
const asJson = (pets: readonly Pet[]) =>
  JSON.stringify(
    pets.map(({ id, name, categoryId, status }) => ({ id: Number(id), name, categoryId: Number(categoryId), status })),
  )

const made = (i: number): Mutable => ({ id: BigInt(i + 1), name: `Rex ${i}`, categoryId: 1n, status: 'available' })

test('a page says what its animals are now, whichever are frozen, were on another page, or have changed since', async () => {
  const change = fc.record({ at: fc.nat(5), name: fc.string({ minLength: 1 }).map((text) => `a${text}`) })
  const look = fc.record({ page: fc.subarray([0, 1, 2, 3, 4, 5]), change: fc.option(change, { nil: undefined }) })
  await fc.assert(
    fc.asyncProperty(fc.subarray([0, 1, 2, 3, 4, 5]), fc.array(look, { maxLength: 12 }), async (frozen, looks) => {
      const pets = Array.from(
        { length: 6 },
        (_, i) => (frozen.includes(i) ? Object.freeze(made(i)) : made(i)) as Mutable,
      )
      let page: Pet[] = []
      const storage = { list: () => page, create: () => made(0), get: () => undefined }
      const api = await startApi({ storage, plans: { free: { perMinute: 100, perDay: 100 } } })
      // One array for all pages: a storage may keep it and change it.
      for (const { page: chosen, change } of looks) {
        page.length = 0
        page.push(...chosen.map((i) => pets[i] as Pet))
        const { text } = await api.send('/v1/pets')
        expect(text).toBe(asJson(page))
        const changed = change && pets[change.at]
        if (changed && !Object.isFrozen(changed)) changed.name = change.name
      }
      page = []
    }),
  )
})

test('pages of more animals than are remembered are told all the same', async () => {
  const api = await startApi({ plans: { free: { perMinute: 10_000, perDay: 10_000 } } })
  for (let i = 0; i < 1_200; i++) await api.storage.create({ name: `Rex ${i}`, categoryId: 1n, status: 'available' })
  for (const round of [1, 2]) {
    let next = '/v1/pets?limit=1'
    for (let i = 0; i < 1_200; i++) {
      const { json, headers } = await api.send(next)
      expect(json, `round ${round}`).toEqual([{ id: i + 1, name: `Rex ${i}`, categoryId: 1, status: 'available' }])
      next = /<(.*)>/.exec(headers.get('link') ?? '')?.[1] ?? ''
    }
  }
})

class Row implements Pet {
  readonly id = 1n
  readonly categoryId = 1n
  readonly #names: string[]
  constructor(names: string[]) {
    this.#names = names
    Object.freeze(this)
  }
  get name(): string {
    return this.#names.at(-1) ?? ''
  }
}

test('what is frozen may change all the same, where it is computed or inherited', async () => {
  const prototype = { name: 'Old' }
  const names = ['Old']
  const computed = Object.defineProperty({ id: 1n, categoryId: 1n }, 'name', {
    enumerable: true,
    get: () => names.at(-1),
  })
  const inherited = Object.assign(Object.create(prototype), { id: 1n, categoryId: 1n })
  for (const animal of [new Row(names), Object.freeze(computed), Object.freeze(inherited)] as Pet[]) {
    names.push('Old')
    prototype.name = 'Old'
    const storage = { list: () => [animal], create: () => animal, get: () => animal }
    const api = await startApi({ storage })
    expect((await api.send('/v1/pets')).text).toContain('"Old"')
    names.push('New')
    prototype.name = 'New'
    expect((await api.send('/v1/pets')).text).toContain('"New"')
  }
})

test('a key whose account is computed is counted under what it is now', async () => {
  let account = 'a'
  const key = Object.freeze(
    Object.defineProperty({ id: 'k', plan: 'free' }, 'account', { enumerable: true, get: () => account }),
  )
  const subjects: string[] = []
  const { quota } = memory()
  const spend: QuotaStore['spend'] = (request) => {
    subjects.push(request.subject)
    return quota.spend(request)
  }
  const { send } = await startApi({ keyStore: { find: () => key }, quota: { spend } })
  await send('/v1/pets')
  account = 'b'
  await send('/v1/pets')
  expect(subjects).toEqual(['account:a', 'account:b'])
})

test.each([
  ['a key that is not frozen', (limits: PlanLimits): ApiKey => ({ id: 'k', plan: 'ours', limits })],
  ['a frozen key whose limits are not', (limits: PlanLimits) => Object.freeze({ id: 'k', plan: 'ours', limits })],
  ['a frozen key of a plan', () => Object.freeze({ id: 'k', plan: 'ours' })],
])('%s is held to what its limits are now, and so is its ban', async (_, make) => {
  const limits = { perMinute: 10, perDay: 100 }
  const key = make(limits)
  const { send } = await startApi({ keyStore: { find: () => key }, plans: { ours: limits } })
  expect(rateLimit(await send('/v1/pets'))).toMatchObject({ limit: 10, remaining: 9 })
  limits.perMinute = 2
  expect(rateLimit(await send('/v1/pets'))).toMatchObject({ limit: 2, remaining: 0 })
  const codes = [await send('/v1/pets'), await send('/v1/pets'), await send('/v1/pets')].map(({ code }) => code)
  expect(codes).toEqual(['rate_limit_exceeded', 'api_key_banned', 'api_key_banned'])
})

test('whatever was asked before, by whatever method and mount, the answer is that of a store that was never asked', async () => {
  const filled = async () => {
    const api = await startApi({ plans: { free: { perMinute: 1_000_000, perDay: 1_000_000 } } })
    for (let i = 0; i < 30; i++) await api.storage.create({ name: 'Rex', categoryId: 1n, status: 'available' })
    return api
  }
  const parts = [
    'limit=20',
    'limit=10',
    'limit=0',
    'status=available',
    'status=old',
    'x=1',
    `x=${'y'.repeat(600)}`,
    `cursor=${encodeCursor(10n)}`,
  ]
  const request = fc.record({
    method: fc.constantFrom('GET', 'GET', 'GET', 'HEAD', 'POST', 'OPTIONS', 'DELETE'),
    start: fc.constantFrom('', '', '/shop', '/a%20b', `/${'z'.repeat(600)}`, 'http://shop.example'),
    // As by routers that have matched it, and by some that have not.
    mountPath: fc.constantFrom(undefined, '', '/shop', '/a%20b', `/${'z'.repeat(600)}`),
    path: fc.constantFrom('/v1/pets', '/v1/pets', '/v1/pets', '/v1/pets/', '/v1/pets/7', '/v1', '/v1/pets#top'),
    query: fc.subarray(parts).map((chosen) => (chosen.length === 0 ? '' : `?${chosen.join('&')}`)),
  })
  const answerOf = async (
    api: Awaited<ReturnType<typeof filled>>,
    { method, start, path, query, mountPath }: typeof request extends fc.Arbitrary<infer T> ? T : never,
  ) => {
    const header = (name: string) =>
      name === 'authorization' ? `Bearer ${api.token}` : name === 'content-type' ? 'application/json' : undefined
    const body = async () => new TextEncoder().encode('{}')
    const target = `${start}${path}${query}`
    const answer = await api.petStore.handle({ method, target, mountPath, header, body })
    const isCount = (name: string | undefined) => name === 'X-RateLimit-Remaining'
    return { ...answer, headers: answer.headers.filter((_, i, list) => !isCount(list[i - 1])) }
  }
  const shared = await filled()
  await fc.assert(
    fc.asyncProperty(request, async (asked) => {
      expect(await answerOf(shared, asked)).toEqual(await answerOf(await filled(), asked))
    }),
    { numRuns: 1_000 },
  )
})

test('targets of more kinds than are remembered are read all the same', async () => {
  const api = await startApi({ plans: { free: { perMinute: 10_000, perDay: 10_000 } } })
  for (let i = 0; i < 3; i++) await api.storage.create({ name: 'Rex', categoryId: 1n, status: 'available' })
  for (let i = 0; i < 3_000; i++) {
    const { headers } = await api.send(`/v1/pets?limit=${1 + (i % 2)}&x=${i % 1_500}`)
    expect(headers.get('link')).toBe(
      `</v1/pets?limit=${1 + (i % 2)}&cursor=${encodeCursor(BigInt(1 + (i % 2)))}>; rel="next"`,
    )
  }
})
