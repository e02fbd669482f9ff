import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { type ApiKey, type ApiRequest, createPetStore, memory, type PetStoreOptions } from '../../../src/index.ts'
import type { QuotaRequest } from '../../../src/ports.ts'
import { untouchedCount } from '../../../src/quota/counting-rule.ts'
import { limitsOf } from '../../../src/quota/rate-limit.ts'
import { type ManualClock, manualClock } from '../../../src/testing/index.ts'
import { rateLimit, startApi } from '../../support/api.ts'

const MINUTE = 60_000
const DAY = 86_400_000
/** A time at which both a minute and a day start. */
const MIDNIGHT = Date.UTC(2026, 5, 1)

const start = (perMinute: number, perDay: number, options: PetStoreOptions = {}, at = MIDNIGHT) =>
  startApi({ plans: { free: { perMinute, perDay } }, clock: manualClock(at), ...options })

describe('the rate limit', () => {
  const limits = fc.record({ perMinute: fc.integer({ min: 1, max: 6 }), perDay: fc.integer({ min: 1, max: 20 }) })
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.constant({ wait: 0 }) },
    { weight: 2, arbitrary: fc.record({ wait: fc.integer({ min: 1, max: 2 * MINUTE }) }) },
    { weight: 1, arbitrary: fc.record({ wait: fc.integer({ min: 1, max: 2 * DAY }) }) },
  )

  test('a request is served unless the minute or the day is used up', async () => {
    await fc.assert(
      fc.asyncProperty(limits, fc.array(step, { maxLength: 60 }), async ({ perMinute, perDay }, steps) => {
        const { send, clock } = await start(perMinute, perDay, { ban: false })
        const served: number[] = []
        const inWindow = (length: number) =>
          served.filter((at) => Math.floor(at / length) === Math.floor(clock.now() / length)).length
        for (const { wait } of steps) {
          clock.advance(wait)
          const [left, leftToday] = [perMinute - inWindow(MINUTE), perDay - inWindow(DAY)]
          const got = await send('/v1/pets')
          expect(got.status).toBe(left > 0 && leftToday > 0 ? 200 : 429)
          if (got.status === 200) served.push(clock.now())
          const after = [perMinute - inWindow(MINUTE), perDay - inWindow(DAY)] as const
          const { limit, remaining, reset } = rateLimit(got)
          expect(remaining).toBe(Math.min(...after))
          const byDay = after[1] <= after[0]
          expect(limit).toBe(byDay ? perDay : perMinute)
          const length = byDay ? DAY : MINUTE
          expect(reset * 1000).toBe((Math.floor(clock.now() / length) + 1) * length)
        }
      }),
      { numRuns: 200 },
    )
  })

  test('a client that waits for exactly Retry-After seconds is served', async () => {
    const wait = fc.integer({ min: 0, max: 90_000 })
    await fc.assert(
      fc.asyncProperty(
        limits,
        fc.array(wait, { minLength: 1, maxLength: 40 }),
        async ({ perMinute, perDay }, waits) => {
          const { send, clock } = await start(perMinute, perDay)
          for (const wait of waits) {
            clock.advance(wait)
            const got = await send('/v1/pets')
            if (got.status === 200) continue
            const seconds = Number(got.headers.get('retry-after'))
            expect(Number.isSafeInteger(seconds) && seconds >= 1).toBe(true)
            const { remaining, reset } = rateLimit(got)
            expect(remaining).toBe(0)
            expect(Math.abs(reset * 1000 - (clock.now() + seconds * 1000))).toBeLessThan(1000)
            const before = clock.now()
            clock.advance(seconds * 1000)
            expect((await send('/v1/pets')).status).toBe(200)
            expect(clock.now() - before).toBe(seconds * 1000)
          }
        },
      ),
      { numRuns: 200 },
    )
  })

  test('no limit is lifted early if the clock steps back', async () => {
    const back = fc.oneof(fc.integer({ min: 1, max: 2 * MINUTE }), fc.integer({ min: 1, max: 3 * DAY }))
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 0, max: DAY }),
        back,
        async (perMinute, offset, back) => {
          const { send, clock } = await start(perMinute, 1000, { ban: false }, MIDNIGHT + 10 * DAY + offset)
          for (let i = 0; i < perMinute; i++) expect((await send('/v1/pets')).status).toBe(200)
          clock.advance(-back)
          const refused = await send('/v1/pets')
          expect(refused.status).toBe(429)
          const seconds = Number(refused.headers.get('retry-after'))
          expect(seconds).toBeLessThanOrEqual(60)
          expect(rateLimit(refused).reset * 1000).toBeLessThan(clock.now() + MINUTE + 1000)
          clock.advance(seconds * 1000)
          expect((await send('/v1/pets')).status).toBe(200)
        },
      ),
    )
  })

  test('a reached daily limit ends within 24 hours after the clock steps back', async () => {
    const { send, clock } = await start(10, 3, { ban: false }, MIDNIGHT + MINUTE)
    for (let i = 0; i < 3; i++) expect((await send('/v1/pets')).status).toBe(200)
    clock.advance(-2 * MINUTE)
    const refused = await send('/v1/pets')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '86400'])
  })
})

describe('counting', () => {
  test.each([
    ['a slow', (find: () => ApiKey) => Promise.resolve().then(find)],
    ['a blocking', (find: () => ApiKey) => find()],
  ])('a request is counted after the look-up of its key: %s key store', async (_, look) => {
    const clock = manualClock(MIDNIGHT + MINUTE - 1)
    let wait = 0
    const find = () => {
      clock.advance(wait)
      return { id: 'k', plan: 'free' }
    }
    const { send } = await start(1, 100, { keyStore: { find: () => look(find) }, clock })
    expect((await send('/v1/pets')).status).toBe(200)
    wait = 1
    const got = await send('/v1/pets')
    expect([got.status, rateLimit(got).reset]).toEqual([200, (MIDNIGHT + 2 * MINUTE) / 1000])
  })

  test('each key or account has its own count', async () => {
    const { send, keyStore } = await start(2, 100)
    const issue = async (account?: string) => (await keyStore.issue({ plan: 'free', account })).token
    const [alone, one, two] = [await issue(), await issue('acme'), await issue('acme')]
    const remaining = async (token: string) => rateLimit(await send('/v1/pets', { token })).remaining
    expect([await remaining(one), await remaining(two), await remaining(alone)]).toEqual([1, 0, 1])
    expect((await send('/v1/pets', { token: one })).status).toBe(429)
  })

  test('the limits are those of the key or its plan', async () => {
    const { send, keyStore } = await startApi()
    for (const [plan, limit] of [
      ['free', 60],
      ['pro', 300],
      ['business', 1000],
    ] as const) {
      const { token } = await keyStore.issue({ plan })
      expect(rateLimit(await send('/v1/pets', { token }))).toMatchObject({ limit, remaining: limit - 1 })
    }
    const { token } = await keyStore.issue({ plan: 'enterprise', limits: { perMinute: 7, perDay: 5 } })
    expect(rateLimit(await send('/v1/pets', { token }))).toMatchObject({ limit: 5, remaining: 4 })
  })

  test('the plan `free` allows 1,000 requests a day', async () => {
    const { send, clock } = await startApi({ clock: manualClock(MIDNIGHT) })
    for (let i = 0; i < 1000; i++) {
      if (i % 60 === 0) clock.advance(MINUTE)
      expect((await send('/v1/pets')).status).toBe(200)
    }
    const refused = await send('/v1/pets')
    expect(refused).toMatchObject({ status: 429, code: 'rate_limit_exceeded' })
    expect(rateLimit(refused)).toEqual({ limit: 1000, remaining: 0, reset: (MIDNIGHT + DAY) / 1000 })
  })
})

test('Reset and Retry-After are rounded up', async () => {
  const { send, clock } = await start(1, 100, { ban: false })
  await send('/v1/pets')
  clock.advance(MINUTE + 0.25)
  await send('/v1/pets')
  clock.advance(-2 * MINUTE)
  const refused = await send('/v1/pets')
  expect(refused.headers.get('retry-after')).toBe('60')
  expect(rateLimit(refused).reset).toBe(Math.ceil((clock.now() + MINUTE) / 1000))
})

test('the limits of a key replace those of its plan', () => {
  const ofPlan = { perMinute: 60, perDay: 1_000 }
  const limits = { perMinute: 5, perDay: 7 }
  const rules = { plans: { free: ofPlan }, anonymous: ofPlan, ipv6Prefix: 56, ban: false } as const
  expect(limitsOf({ id: 'a', plan: 'free', limits }, rules)).toEqual(limits)
  expect(limitsOf({ id: 'a', plan: 'free' }, rules)).toEqual(ofPlan)
})

describe('anonymous clients', () => {
  const bad = { token: 'pet_wrong' }

  test('anonymous clients over their limit get 429 instead of 401', async () => {
    const { send } = await start(60, 1000, { anonymous: { perMinute: 2, perDay: 10 } })
    const ask = (address: string, token: string | null) => send('/v1/pets', { address, token })
    expect(rateLimit(await ask('192.0.2.1', null))).toMatchObject({ limit: 2, remaining: 1 })
    expect((await ask('192.0.2.1', 'pet_wrong')).status).toBe(401)
    const refused = await ask('192.0.2.1', null)
    expect(refused).toMatchObject({ status: 429, code: 'rate_limit_exceeded' })
    expect(refused.headers.get('retry-after')).toBe('60')
    expect((await ask('192.0.2.2', null)).status).toBe(401)
    expect((await send('/v1/pets', { address: '192.0.2.1' })).status).toBe(200)
  })

  test('anonymous clients are counted per IPv6 prefix', async () => {
    const { send } = await startApi({ anonymous: { perMinute: 2, perDay: 9 } })
    const statuses = async (addresses: string[]) =>
      Promise.all(addresses.map(async (address) => (await send('/v1/pets', { token: null, address })).status))
    expect(await statuses(['2001:db8::1', '2001:db8::2', '2001:db8::ff:3'])).toEqual([401, 401, 429])
    expect(await statuses(['2001:db8:0:100::1'])).toEqual([401])
    expect(await statuses(['203.0.113.7', '::ffff:203.0.113.7', '203.0.113.7'])).toEqual([401, 401, 429])
  })

  test('the option ipv6Prefix sets the length of the prefix', async () => {
    const { send } = await startApi({ anonymous: { perMinute: 1, perDay: 9 }, ipv6Prefix: 128 })
    for (const address of ['2001:db8::1', '2001:db8::2'])
      expect((await send('/v1/pets', { token: null, address })).status).toBe(401)
  })

  test('the quota store gets no ban rule for anonymous clients', async () => {
    const asked: QuotaRequest[] = []
    const spend = (request: QuotaRequest) => {
      asked.push(request)
      return untouchedCount(request.now)
    }
    const { send } = await startApi({ quota: { spend } })
    await send('/v1/pets', { address: '192.0.2.1', ...bad })
    expect(asked).toMatchObject([{ subject: 'address:192.0.2.1', anonymous: true, ban: false }])
  })

  test('anonymous clients without an address are not counted', async () => {
    const { send } = await start(60, 1000)
    for (let i = 0; i < 100; i++) {
      const got = await send('/v1/pets', bad)
      expect(got.status).toBe(401)
      expect(rateLimit(got)).toEqual({ limit: 60, remaining: 60, reset: MIDNIGHT / 1000 + 60 })
    }
  })

  /** A request with an unknown token. `address` is called whenever the store reads the client address. */
  const fromConnection = (address: () => string | undefined): ApiRequest => ({
    method: 'GET',
    target: '/v1/pets',
    header: (name) => (name === 'authorization' ? 'Bearer x' : undefined),
    body: async () => new Uint8Array(),
    get clientAddress() {
      return address()
    },
  })
  const slowly = { keyStore: { find: async () => undefined } }

  test('an anonymous client that disconnects during the look-up is counted', async () => {
    const reported: unknown[] = []
    const petStore = createPetStore({
      ...slowly,
      anonymous: { perMinute: 2, perDay: 9 },
      onResponse: ({ status, clientAddress }) => void reported.push([status, clientAddress]),
    })
    for (let i = 0; i < 3; i++) {
      let address: string | undefined = '203.0.113.7'
      const response = petStore.handle(fromConnection(() => address))
      address = undefined
      await response
    }
    expect(reported).toEqual([401, 401, 429].map((status) => [status, '203.0.113.7']))
  })

  test.each([undefined, () => {}])('the address is read once, before the first await', async (onResponse) => {
    let asked = 0
    const response = createPetStore({ ...slowly, onResponse }).handle(fromConnection(() => void asked++ as undefined))
    const before = asked
    await response
    expect([before, asked]).toEqual([1, 1])
  })

  test.each([null, ''])('anonymous clients with the address %j are not counted', async (address) => {
    const { send } = await start(60, 1000, { anonymous: { perMinute: 1, perDay: 9 } })
    for (let i = 0; i < 5; i++)
      expect((await send('/v1/pets', { ...bad, address: address as string })).status).toBe(401)
  })

  test('anonymous clients do not push the count of a key out of memory', async () => {
    const { send } = await startApi({
      plans: { free: { perMinute: 3, perDay: 10 } },
      memory: { maxAddresses: 10, maxCustomers: 10 },
    })
    await send('/v1/pets')
    for (let i = 0; i < 500; i++) await send('/v1/pets', { address: `198.51.100.${i}`, ...bad })
    expect(rateLimit(await send('/v1/pets')).remaining).toBe(1)
  })
})

describe('bans', () => {
  const exhaust = async (
    send: (target: string) => Promise<{ status: number; code: string | undefined }>,
    times: number,
  ) => {
    const codes: (string | undefined)[] = []
    for (let i = 0; i < times; i++) codes.push((await send('/v1/pets')).code)
    return codes
  }

  test('a ban begins when the refusals in one minute reach the limit per minute', async () => {
    const { send, clock } = await start(3, 100)
    expect(await exhaust(send, 5)).toEqual([
      undefined,
      undefined,
      undefined,
      'rate_limit_exceeded',
      'rate_limit_exceeded',
    ])
    const banned = await send('/v1/pets')
    expect(banned).toMatchObject({ status: 429, code: 'api_key_banned' })
    expect(banned.headers.get('retry-after')).toBe('300')
    expect(rateLimit(banned)).toEqual({ limit: 3, remaining: 0, reset: MIDNIGHT / 1000 + 300 })
    clock.advance(299_000)
    expect((await send('/v1/pets')).headers.get('retry-after')).toBe('1')
    clock.advance(1000)
    expect((await send('/v1/pets')).status).toBe(200)
  })

  test('further requests do not make a ban longer', async () => {
    const { send, clock } = await start(2, 100)
    await exhaust(send, 4)
    for (let i = 0; i < 299; i++) {
      clock.advance(1000)
      expect((await send('/v1/pets')).headers.get('retry-after')).toBe(String(299 - i))
    }
    clock.advance(1000)
    expect((await send('/v1/pets')).status).toBe(200)
  })

  test('Retry-After covers both a ban and a reached daily limit', async () => {
    const { send } = await start(10, 2, {}, MIDNIGHT + DAY - 100_000)
    await exhaust(send, 11)
    const banned = await send('/v1/pets')
    expect(banned).toMatchObject({ code: 'api_key_banned' })
    expect(banned.headers.get('retry-after')).toBe('300')
    const early = await start(10, 2, {}, MIDNIGHT)
    await exhaust(early.send, 11)
    expect((await early.send('/v1/pets')).headers.get('retry-after')).toBe('86400')
  })

  test('a 429 does not mention a ban that has ended', async () => {
    const spend = ({ now }: QuotaRequest) => ({ ...untouchedCount(now), granted: false, bannedUntil: now })
    const { send } = await startApi({ quota: { spend } })
    expect(await send('/v1/pets')).toMatchObject({ status: 429, code: 'rate_limit_exceeded' })
  })

  test('the option ban changes bans or turns them off', async () => {
    const custom = await start(3, 100, { ban: { afterRefusals: 1, seconds: 7 } })
    await exhaust(custom.send, 3)
    const banned = await custom.send('/v1/pets')
    expect([banned.code, banned.headers.get('retry-after')]).toEqual(['api_key_banned', '60'])
    const never = await start(3, 100, { ban: false })
    expect(await exhaust(never.send, 50)).not.toContain('api_key_banned')
  })

  test('after a short ban, the count of refusals restarts', async () => {
    const { send, clock } = await start(1, 100, { ban: { afterRefusals: 2, seconds: 5 } })
    expect(await exhaust(send, 3)).toEqual([undefined, 'rate_limit_exceeded', 'api_key_banned'])
    clock.advance(5000)
    expect(await exhaust(send, 2)).toEqual(['rate_limit_exceeded', 'api_key_banned'])
  })

  test('a ban ends after 300 seconds although the clock steps back', async () => {
    const { send, clock } = await start(1, 1000, {}, MIDNIGHT + 10 * DAY)
    await exhaust(send, 2)
    ;(clock as ManualClock).advance(-5 * DAY)
    expect((await send('/v1/pets')).headers.get('retry-after')).toBe('300')
    clock.advance(300_000)
    expect((await send('/v1/pets')).status).toBe(200)
  })
})

test.each([
  { maxCustomers: 2, maxAddresses: 1 },
  { maxCustomers: 1, maxAddresses: 2 },
])('memory keeps at most maxCustomers keys and maxAddresses addresses: %j', async (room) => {
  const limits = { perMinute: 9, perDay: 9 }
  const { send, keyStore } = await startApi({ plans: { free: limits }, anonymous: limits, memory: room })
  const tokens = [(await keyStore.issue({ plan: 'free' })).token, (await keyStore.issue({ plan: 'free' })).token]
  const asCustomer = async (i: number) => rateLimit(await send('/v1/pets', { token: tokens[i] as string })).remaining
  const asAnonymous = async (i: number) =>
    rateLimit(await send('/v1/pets', { token: null, address: `192.0.2.${i}` })).remaining
  for (const [ask, kept] of [
    [asCustomer, room.maxCustomers],
    [asAnonymous, room.maxAddresses],
  ] as const) {
    expect([await ask(0), await ask(1)]).toEqual([8, 8])
    expect(await ask(0)).toBe(kept === 2 ? 7 : 8)
  }
})

test('the message of a 429 states how long to wait', async () => {
  const { send, clock } = await start(1, 100, { ban: { afterRefusals: 3 } })
  await send('/v1/pets')
  expect((await send('/v1/pets')).message).toBe('Too many requests. Retry after 60 seconds.')
  clock.advance(59_000)
  expect((await send('/v1/pets')).message).toBe('Too many requests. Retry after 1 second.')
  await send('/v1/pets')
  expect((await send('/v1/pets')).message).toBe(
    'The API key is banned for a while, because it kept sending requests over its limit. Retry after 300 seconds.',
  )
})

test('the quota store in memory bans no key if `ban` is false', async () => {
  const request = {
    subject: 'a',
    anonymous: false,
    limits: { perMinute: 1, perDay: 1 },
    ban: false,
    now: MIDNIGHT,
  } as const
  const { quota } = memory()
  for (const granted of [true, false, false])
    expect(await quota.spend(request)).toMatchObject({ granted, bannedUntil: 0 })
})

test('counts the requests of a key without limits, and refuses them at the anonymous limit', async () => {
  const onError = vi.fn()
  const petStore = createPetStore({
    keyStore: { find: () => ({ id: 'a', plan: 'gold' }) },
    anonymous: { perMinute: 2, perDay: 9 },
    onError,
  })
  const statuses = []
  for (let i = 0; i < 3; i++) {
    const headers = { authorization: 'Bearer a' }
    statuses.push((await petStore.fetch(new Request('http://localhost/v1/pets', { headers }))).status)
  }
  expect(statuses).toEqual([500, 500, 429])
  expect(onError).toHaveBeenCalledTimes(2)
  expect(String(onError.mock.calls[0]?.[0])).toContain('on its plan "gold"')
})
