import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createPetStore, type PetStoreOptions, type QuotaCount } from '../../../src/index.ts'
import { openApiDocument } from '../../../src/openapi/index.ts'
import { addStandardRateLimitHeaders, allowanceOf } from '../../../src/quota/rate-limit.ts'
import { createTestPetStore, manualClock } from '../../../src/testing/index.ts'
import { responseChecker } from '../../support/response-checker.ts'

/** 12:00:20.5, so that 39.5 seconds of the minute are left, and 43,179.5 of the day. */
const NOON = Date.UTC(2030, 0, 1, 12, 0, 20, 500)
const POLICY = '"minute";q=3;w=60, "day";q=100;w=86400'

function start(options: Omit<PetStoreOptions, 'clock'> = {}) {
  const plans = { free: { perMinute: 3, perDay: 100 } }
  return createTestPetStore({ clock: manualClock(NOON), plans, standardRateLimitHeaders: true, ...options })
}

const fieldsOf = ({ status, headers }: Pick<Response, 'status' | 'headers'>) => ({
  status,
  policy: headers.get('ratelimit-policy'),
  limit: headers.get('ratelimit'),
})

describe('the headers', () => {
  test('a response has both windows', async () => {
    const { request } = await start()
    expect(fieldsOf(await request('/pets'))).toEqual({
      status: 200,
      policy: POLICY,
      limit: '"minute";r=2;t=40, "day";r=99;t=43180',
    })
  })

  test('an uncounted response has the limits of a client without a key', async () => {
    const { fetch } = await start()
    const headers = { expect: 'tea' }
    expect(fieldsOf(await fetch('http://localhost/v1/pets', { headers }))).toEqual({
      status: 417,
      policy: POLICY,
      limit: '"minute";r=3;t=40, "day";r=100;t=43180',
    })
  })

  test('a refusal has no requests left in the window that is used up', async () => {
    const { request, clock } = await start()
    for (let i = 0; i < 3; i++) await request('/pets')
    clock.advance(10_000)
    const response = await request('/pets')
    expect(fieldsOf(response)).toMatchObject({ status: 429, limit: '"minute";r=0;t=30, "day";r=97;t=43170' })
    expect(response.headers.get('retry-after')).toBe('30')
  })

  test('during a ban, no requests are left in either window until it ends', async () => {
    const { request, clock } = await start({ ban: { afterRefusals: 1, seconds: 300 } })
    for (let i = 0; i < 4; i++) await request('/pets')
    const banned = await request('/pets')
    expect(fieldsOf(banned)).toMatchObject({ status: 429, limit: '"minute";r=0;t=300, "day";r=0;t=300' })
    expect(banned.headers.get('retry-after')).toBe('300')
    clock.advance(300_000)
    expect(fieldsOf(await request('/pets'))).toMatchObject({
      status: 200,
      limit: '"minute";r=2;t=40, "day";r=96;t=42880',
    })
  })

  test('a ban that ends in a window that is used up lasts as long as the window', async () => {
    const { request } = await start({ ban: { afterRefusals: 1, seconds: 5 } })
    for (let i = 0; i < 4; i++) await request('/pets')
    const banned = await request('/pets')
    expect(fieldsOf(banned)).toMatchObject({ limit: '"minute";r=0;t=40, "day";r=0;t=5' })
    expect(banned.headers.get('retry-after')).toBe('40')
  })

  test('an admission to a route of the host has them', async () => {
    const { petStore, token } = await start()
    const request = new Request('http://localhost/orders', { headers: { authorization: `Bearer ${token}` } })
    const { headers = new Headers() } = await petStore.admit(request)
    expect(fieldsOf({ status: 200, headers })).toMatchObject({ policy: POLICY })
  })

  test('without the option, no response has them', async () => {
    const { request } = await start({ standardRateLimitHeaders: false })
    expect(fieldsOf(await request('/pets'))).toEqual({ status: 200, policy: null, limit: null })
  })

  test('the headers are integers of structured fields, whatever the limits', () => {
    const limit = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })
    fc.assert(
      fc.property(limit, limit, fc.nat(), fc.boolean(), (perMinute, perDay, used, granted) => {
        const count: QuotaCount = {
          ...{ granted, now: NOON, usedInMinute: used, usedInDay: used },
          ...{ minuteEndsAt: NOON + 39_500, dayEndsAt: NOON + 43_179_500, bannedUntil: 0 },
        }
        const headers: string[] = []
        addStandardRateLimitHeaders(headers, allowanceOf(count, { perMinute, perDay }))
        const [, policy, , remaining] = headers
        expect(policy).toMatch(/^"minute";q=[1-9]\d{0,14};w=60, "day";q=[1-9]\d{0,14};w=86400$/)
        expect(remaining).toMatch(/^"minute";r=\d{1,15};t=40, "day";r=\d{1,15};t=43180$/)
      }),
    )
  })
})

test('pages of other origins may read the headers', async () => {
  const { request } = await start({ cors: true })
  const { headers } = await request('/pets', { headers: { origin: 'https://shop.example' } })
  expect(headers.get('access-control-expose-headers')).toContain(', RateLimit-Policy, RateLimit')
})

describe('the OpenAPI document', () => {
  test('the document describes the headers of real responses', async () => {
    const { petStore, request } = await start()
    const document = openApiDocument(petStore)
    expect(document.components.headers).toMatchObject({ 'RateLimit-Policy': {}, RateLimit: {} })
    const check = responseChecker(document)
    for (const path of ['/pets', '/pets/7', '/pets?limit=x', '/pets']) {
      const { status, headers, text } = await request(path).then(async (response) => ({
        status: response.status,
        headers: Object.fromEntries(response.headers),
        text: await response.text(),
      }))
      check({ method: 'GET', path: path.split('?')[0] ?? '', status, headers, body: text })
    }
  })

  test('without the option, the document has no such headers', () => {
    expect(openApiDocument(createPetStore()).components.headers).not.toHaveProperty('RateLimit')
  })
})

test('the client shows both windows', async () => {
  const { client } = await start()
  await client.listPets()
  expect(client.rateLimit).toEqual({
    ...{ limit: 3, remaining: 2, resetsAt: Date.UTC(2030, 0, 1, 12, 1) },
    minute: { limit: 3, remaining: 2, resetsAt: Date.UTC(2030, 0, 1, 12, 1) },
    day: { limit: 100, remaining: 99, resetsAt: Date.UTC(2030, 0, 2) },
  })
})
