import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createPetStore, type Pet, type PetStatus, petStatuses } from '../../../src/index.ts'
import { parsePageQuery } from '../../../src/pets/list.ts'
import { decodeCursor, encodeCursor } from '../../../src/schemas/query.ts'
import { startApi } from '../../support/api.ts'

const big = { plans: { free: { perMinute: 1_000_000, perDay: 1_000_000 } } }

/** Returns the target of the next page from the Link header. */
const nextOf = (headers: Headers) => /^<([^>]*)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1]

async function withPets(count: number, options = {}) {
  const api = await startApi({ ...big, ...options })
  for (let i = 0; i < count; i++) {
    await api.storage.create({ name: `pet ${i}`, categoryId: 1n, status: petStatuses[i % 3] as PetStatus })
  }
  return api
}

describe('parameters', () => {
  test.each([
    ...['0', '101', '-1', '+5', '05', '1e1', '5.0', '', '5 ', 'abc', '1000', '%EF%BC%95', '9'.repeat(50)].map(
      (limit) => `limit=${limit}`,
    ),
    ...['Sold', 'SOLD', '', 'lost', 'sold,pending', ' sold'].map((status) => `status=${status}`),
    ...['', 'x', '1', 'MToy=', 'MTox%00', 'Mjox', 'MTotMA', 'MTowMQ', 'MQ', 'MTphYmM', '%zz'].map(
      (cursor) => `cursor=${cursor}`,
    ),
    'limit=5&limit=5',
    'status=sold&status=sold',
    'cursor=MToy&cursor=MToy',
    'limit',
  ])('the parameter %s gets 400', async (query) => {
    const { send } = await startApi()
    expect(await send(`/v1/pets?${query}`)).toMatchObject({ status: 400, code: 'invalid_parameter' })
  })

  test('the message describes every wrong parameter', async () => {
    const { send } = await startApi()
    const { message } = await send('/v1/pets?limit=0&status=lost&cursor=x&cursor=y')
    expect(message).toBe(
      'The query is not valid: limit: expected a whole number from 1 to 100, got the string "0"; ' +
        'status: expected one of available, pending, sold, got the string "lost"; ' +
        'cursor: expected a cursor from an earlier page, got 2 values.',
    )
  })

  test('ignores unknown parameters, even if their values have invalid escapes', async () => {
    const { send } = await startApi()
    expect((await send('/v1/pets?page=2&Limit=0&x=%zz&=&&')).status).toBe(200)
  })

  test('a query of more than 100 parameters gets 400', async () => {
    const { send } = await startApi()
    expect((await send(`/v1/pets?limit=2${'&a=%41'.repeat(99)}`)).status).toBe(200)
    expect(await send(`/v1/pets?${'&'.repeat(100)}`)).toMatchObject({
      status: 400,
      code: 'invalid_parameter',
      message: 'The query is not valid: expected at most 100 parameters.',
    })
  })

  test('any query gets 200 or 400', async () => {
    const { send } = await startApi(big)
    const query = fc.oneof(
      fc.string(),
      // The characters of `fc.webQueryParameters()`, which is not used because it takes a second to start.
      fc.stringMatching(/^(?:[\w.~!$&'()*+,;=:@/?-]|%[\dA-F]{2})*$/),
      fc.tuple(fc.constantFrom('limit', 'status', 'cursor'), fc.string()).map((pair) => pair.join('=')),
    )
    await fc.assert(
      fc.asyncProperty(query, async (query) => {
        expect([200, 400]).toContain((await send(`/v1/pets?${query}`)).status)
      }),
    )
  })
})

test('parsePageQuery reads random queries like a parser that uses URLSearchParams', () => {
  const value = fc.oneof(
    fc.constantFrom(
      '',
      '1',
      '5',
      '05',
      '20',
      '99',
      '100',
      '101',
      '1000',
      '+5',
      '%35',
      'sold',
      'pending',
      'Sold',
      'MTo1',
      'MTo1=',
    ),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(encodeCursor),
    fc.string({ maxLength: 5 }),
  )
  const name = fc.constantFrom('limit', 'status', 'cursor', 'x', '%6cimit', '', '__proto__', 'constructor')
  const pair = fc.oneof(
    fc.tuple(name, value).map((both) => both.join('=')),
    fc.constantFrom('limit', 'cursor', 'limit=5', 'status=sold', 'cursor=MTo1', '=', '?', ''),
  )
  const query = fc.array(pair, { maxLength: 4 }).map((pairs) => pairs.join('&'))
  fc.assert(
    fc.property(query, (query) => {
      const given = new URLSearchParams(`?${query}`)
      const isValid = (name: string, check: (value: string) => boolean) =>
        given.getAll(name).length < 2 && given.getAll(name).every(check)
      const isLimit = (text: string) => /^[1-9]\d*$/.test(text) && Number(text) <= 100
      const isCursor = (text: string) => decodeCursor(text) !== undefined
      const isStatus = (text: string) => ['available', 'pending', 'sold'].includes(text)
      if (!(isValid('limit', isLimit) && isValid('status', isStatus) && isValid('cursor', isCursor)))
        return void expect(() => parsePageQuery(query)).toThrow('The query is not valid')
      const { limit, status, after } = parsePageQuery(query).query
      const cursor = after === undefined ? null : encodeCursor(after)
      expect([limit, status ?? null, cursor]).toEqual([
        Number(given.get('limit') ?? 20),
        given.get('status'),
        given.get('cursor'),
      ])
    }),
    { numRuns: 2_000 },
  )
})

describe('cursors', () => {
  const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })

  test('each id has one cursor, which needs no escaping', () => {
    fc.assert(
      fc.property(int64, (id) => {
        expect(encodeCursor(id)).toMatch(/^[\w-]+$/)
        expect(decodeCursor(encodeCursor(id))).toBe(id)
      }),
    )
  })

  test('accepts only cursors that encodeCursor returns', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String(), fc.string().map(btoaOrEmpty)), (text) => {
        const id = decodeCursor(text)
        if (id !== undefined) expect(encodeCursor(id)).toBe(text)
      }),
    )
  })

  const texts = ['2:5', '15', '1;5', '1:', '1:-', '1:05', '1:-0', '1:+5', '1: 5', '1:0x5', '1:5:6', 'x1:5', '1:5x']
  test.each([...texts, `1:${2n ** 63n}`, `1:${-(2n ** 63n) - 1n}`])(
    'a cursor that encodes the text %s is invalid',
    (text) => {
      expect(decodeCursor(btoa(text).replace(/=+$/, ''))).toBeUndefined()
    },
  )

  test.each(['MTo1=', ' MTo1', '%', btoa('1:50')])('a cursor in another form of Base64 is invalid: %j', (cursor) => {
    expect(decodeCursor(cursor)).toBeUndefined()
  })

  const btoaOrEmpty = (text: string) => btoa(encodeURIComponent(text))
})

describe('pages', () => {
  test('linked pages contain every matching animal once, in order', async () => {
    const status = fc.option(fc.constantFrom(...petStatuses), { nil: undefined })
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 60 }), fc.integer({ min: 1, max: 25 }), status, async (count, limit, status) => {
        const { send } = await withPets(count)
        const seen: unknown[] = []
        let next: string | undefined = `/v1/pets?limit=${limit}${status === undefined ? '' : `&status=${status}`}`
        while (next !== undefined) {
          const page = await send(next)
          const pets = page.json as { id: number; status: string }[]
          next = nextOf(page.headers)
          expect(pets.length).toBe(next === undefined ? pets.length : limit)
          if (seen.length > 0) expect(pets.length).toBeGreaterThan(0)
          seen.push(...pets.map(({ id }) => id))
        }
        const ids = Array.from({ length: count }, (_, i) => i + 1)
        expect(seen).toEqual(ids.filter((id) => status === undefined || petStatuses[(id - 1) % 3] === status))
      }),
    )
  })

  test('pages neither repeat nor skip an animal while animals are added', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 1, max: 5 }),
        async (scheduler, added, limit) => {
          const { send, add } = await withPets(10)
          const seen: number[] = []
          const adding = scheduler.scheduleSequence(
            Array.from({ length: added }, () => async () => void (await add('{"name":"new","categoryId":2}'))),
          )
          const reading = (async () => {
            let next: string | undefined = `/v1/pets?limit=${limit}`
            while (next !== undefined) {
              const page = await scheduler.schedule(send(next))
              seen.push(...(page.json as { id: number }[]).map(({ id }) => id))
              next = nextOf(page.headers)
            }
          })()
          await scheduler.waitAll()
          await Promise.all([adding.task, reading])
          expect(seen).toEqual(Array.from({ length: seen.length }, (_, i) => i + 1))
          expect(seen.length).toBeGreaterThanOrEqual(10)
        },
      ),
      { numRuns: 50 },
    )
  })

  test('links keep the path and the parameters of the request', async () => {
    const { send } = await withPets(30)
    expect(nextOf((await send('/v1/pets/?status=sold&x=1&limit=2')).headers)).toBe(
      '/v1/pets/?limit=2&status=sold&cursor=MTo2',
    )
    expect(nextOf((await send('http://evil.example/v1/pets?limit=1')).headers)).toBe('/v1/pets?limit=1&cursor=MTox')
  })

  test.each([
    ['https://api.example', 'https://api.example/v1'],
    ['https://api.example/', 'https://api.example/v1'],
    ['https://api.example/v1', 'https://api.example/v1'],
    ['https://shop.example/store', 'https://shop.example/store/v1'],
    ['https://shop.example:8443/store/v1/', 'https://shop.example:8443/store/v1'],
    ['https://shop.example/store//', 'https://shop.example/store/v1'],
    ['https://shop.example/@store', 'https://shop.example/@store/v1'],
    ['HTTPS://shop.example', 'https://shop.example/v1'],
  ])('links are absolute if publicUrl is %s', async (publicUrl, address) => {
    const { send } = await withPets(3, { publicUrl })
    expect(nextOf((await send('/v1/pets?limit=1')).headers)).toBe(`${address}/pets?limit=1&cursor=MTox`)
    expect((await send('/v1/pets/1')).headers.get('link')).toBe(`<${address}/pets>; rel="successor-version"`)
  })

  test('links keep the mount path, and never name another host', async () => {
    const { petStore, token, storage } = await startApi()
    await storage.create({ name: 'a', categoryId: 1n, status: 'available' })
    await storage.create({ name: 'b', categoryId: 1n, status: 'available' })
    const link = async (mountPath: string) => {
      const request = {
        method: 'GET',
        target: `${mountPath}/v1/pets?limit=1`,
        mountPath,
        header: (name: string) => (name === 'authorization' ? `Bearer ${token}` : undefined),
        body: async () => new Uint8Array(),
      }
      const { headers } = await petStore.handle(request)
      return headers[headers.indexOf('Link') + 1]
    }
    expect(await link('/shop')).toBe('</shop/v1/pets?limit=1&cursor=MTox>; rel="next"')
    expect(await link('//evil.example')).toBe('</evil.example/v1/pets?limit=1&cursor=MTox>; rel="next"')
    expect(await link('/a>b "ü')).toBe('</a%3Eb%20%22%C3%BC/v1/pets?limit=1&cursor=MTox>; rel="next"')
    expect(await link('/a%20b')).toBe('</a%20b/v1/pets?limit=1&cursor=MTox>; rel="next"')
  })

  test('links keep all digits of the largest ids', async () => {
    const last = 2n ** 63n - 1n
    const list = (): Pet[] => [last - 1n, last].map((id) => ({ id, name: 'far', categoryId: id, status: 'available' }))
    const storage = { list, create: () => list()[0] as Pet, get: () => undefined }
    const { token, keyStore } = await startApi()
    const petStore = createPetStore({ storage, keyStore })
    const response = await petStore.fetch(
      new Request('http://x/v1/pets?limit=1', { headers: { authorization: `Bearer ${token}` } }),
    )
    expect(await response.text()).toContain('"id":9223372036854775806,"name":"far","categoryId":9223372036854775806,')
    expect(decodeCursor(/cursor=([\w-]+)/.exec(response.headers.get('link') ?? '')?.[1] ?? '')).toBe(last - 1n)
  })
})

test('if publicUrl has no path, links keep the mount path', async () => {
  const { petStore, token } = await withPets(2, { publicUrl: 'https://api.example' })
  const { headers } = await petStore.handle({
    method: 'GET',
    target: '/shop/v1/pets?limit=1',
    mountPath: '/shop',
    header: (name) => (name === 'authorization' ? `Bearer ${token}` : undefined),
    body: async () => new Uint8Array(),
  })
  expect(headers).toContain('<https://api.example/shop/v1/pets?limit=1&cursor=MTox>; rel="next"')
})

test('the link to the next page repeats only the parameters that were sent', async () => {
  const { send } = await withPets(21)
  const paths = ['/v1/pets', '/v1/pets?limit=2', '/v1/pets?limit=2&unknown=1']
  const links = await Promise.all(paths.map(async (path) => nextOf((await send(path)).headers)))
  expect(links.map((link) => link?.replace(/cursor=.*/, ''))).toEqual([
    '/v1/pets?',
    '/v1/pets?limit=2&',
    '/v1/pets?limit=2&',
  ])
})
