import assert from 'node:assert/strict'
import { allowOf } from '../../../../src/http/routes.ts'
import { expectError, expectJson, expectOurs, get, keyOf, post, probe } from '../expect.ts'
import type { Rules } from '../suite.ts'

/** Rules about the options of a store, and about failures of its back end. */
export const options: Rules = {
  'responds to a CORS preflight without a key': async ({ send }) => {
    const headers = { origin: 'https://shop.example', 'access-control-request-method': 'POST' }
    const preflight = await send('/cors/v1/pets', { method: 'OPTIONS', headers })
    expectOurs(preflight, 204)
    assert.equal(preflight.headers['access-control-allow-origin'], 'https://shop.example')
    assert.equal(preflight.headers['access-control-allow-methods'], allowOf('/pets'))
  },
  'sends CORS headers to allowed origins only': async ({ send }) => {
    const read = await get(send, '/cors/v1/pets', { origin: 'https://shop.example' })
    assert.equal(read.headers['access-control-allow-origin'], 'https://shop.example')
    assert.match(read.headers['access-control-expose-headers'] ?? '', /X-RateLimit-Limit/)
    const refused = await get(send, '/cors/v1/pets', { origin: 'https://other.example' })
    assert.equal(refused.headers['access-control-allow-origin'], undefined)
    assert.match(refused.headers.vary ?? '', /Origin/)
  },
  'links begin with publicUrl': async ({ send }) => {
    for (let i = 0; i < 2; i++) await post(send, '/public/v1/pets')
    const { headers } = await get(send, '/public/v1/pets?limit=1')
    assert.match(headers.link ?? '', /^<https:\/\/api\.example\/public\/v1\/pets\?limit=1&cursor=/)
  },
  'getPet responds with 410 from 5 December 2030': async ({ send }) => {
    expectError(await get(send, '/removed/v1/pets/1'), 410, 'operation_removed')
    expectJson(await get(send, '/removed/v1/pets'), 200)
  },
  'a back-end error causes 500, and the body hides its cause': async ({ send }) => {
    const failed = await get(send, '/faulty/v1/pets')
    expectError(failed, 500, 'internal_error')
    assert.doesNotMatch(failed.body, /secret/)
    expectJson(await post(send, '/faulty/v1/pets'), 201)
    assert.ok((await probe(send)).faults.includes('secret cause'))
  },
  'a back end that does not respond causes 503': async ({ send }) => {
    const failed = await get(send, '/faulty/v1/pets/1')
    expectError(failed, 503, 'service_unavailable')
    assert.match(failed.headers['retry-after'] ?? '', /^\d+$/)
  },
  'responds with 500 if petStore.handle rejects, and keeps running': async ({ send }) => {
    const failed = await send('/rejecting/v1/pets', { headers: keyOf('ample') })
    assert.equal(failed.status, 500)
    assert.equal(JSON.parse(failed.body).code, 'internal_error')
    expectJson(await get(send, '/v1/pets'), 200)
  },
}
