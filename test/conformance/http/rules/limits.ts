import assert from 'node:assert/strict'
import { expectError, expectJson, expectOurs, keyOf, NOW } from '../expect.ts'
import type { Rules } from '../suite.ts'

/** Rules about the rate limits of keys. The stores' clock stands still. */
export const limits: Rules = {
  'X-RateLimit-Remaining counts down, then requests get 429': async ({ send }) => {
    const headers = keyOf('tiny')
    for (const left of ['2', '1', '0']) {
      const served = await send('/quota/v1/pets', { headers })
      expectJson(served, 200)
      assert.equal(served.headers['x-ratelimit-limit'], '3')
      assert.equal(served.headers['x-ratelimit-remaining'], left)
      assert.equal(served.headers['x-ratelimit-reset'], String(NOW / 1000 + 30))
    }
    const refused = await send('/quota/v1/pets', { headers })
    expectError(refused, 429, 'rate_limit_exceeded')
    assert.equal(refused.headers['retry-after'], '30')
    assert.equal(refused.headers['x-ratelimit-remaining'], '0')
    expectJson(await send('/quota/v1/pets', { headers: keyOf('tiny') }), 200)
  },
  'counts requests that get 404 or 405': async ({ send }) => {
    const headers = keyOf('tiny')
    expectError(await send('/quota/v1/nothing', { headers }), 404, 'route_not_found')
    expectError(await send('/quota/v1/pets', { method: 'DELETE', headers }), 405, 'method_not_allowed')
    const head = await send('/quota/v1/pets', { method: 'HEAD', headers })
    expectOurs(head, 200)
    assert.equal(head.headers['x-ratelimit-remaining'], '0')
    const body = '{"name":"Rex","categoryId":1}'
    expectError(await send('/quota/v1/pets', { method: 'POST', headers, body }), 429, 'rate_limit_exceeded')
  },
  'bans a key that continues over its limit': async ({ send }) => {
    const headers = keyOf('tiny')
    for (let i = 0; i < 5; i++) await send('/ban/v1/pets', { headers })
    const banned = await send('/ban/v1/pets', { headers })
    expectError(banned, 429, 'api_key_banned')
    assert.equal(banned.headers['retry-after'], '90')
    assert.equal(banned.headers['x-ratelimit-reset'], String(NOW / 1000 + 90))
  },
  'serves exactly as many concurrent requests as the limit allows': async ({ send }) => {
    const headers = keyOf('tiny')
    const responses = await Promise.all(Array.from({ length: 8 }, () => send('/quota/v1/pets', { headers })))
    assert.equal(responses.filter(({ status }) => status === 200).length, 3)
  },
}
