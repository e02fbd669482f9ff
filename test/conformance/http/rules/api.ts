import assert from 'node:assert/strict'
import { expectError, expectJson, expectOurs, get, keyOf, post } from '../expect.ts'
import type { Rules } from '../suite.ts'

/** Rules about pages, keys and methods, which the HTTP contract does not have. */
export const api: Rules = {
  'linked pages contain every animal once': async ({ send }) => {
    const ids: number[] = []
    for (let i = 0; i < 5; i++) ids.push((JSON.parse((await post(send, '/pages/v1/pets')).body) as { id: number }).id)
    const seen: number[] = []
    let next: string | undefined = '/pages/v1/pets?limit=2&status=available'
    while (next !== undefined) {
      const page = await get(send, next)
      for (const { id } of expectJson(page, 200) as { id: number }[]) seen.push(id)
      next = /^<(\/pages\/v1\/pets\?[^>]*)>; rel="next"$/.exec(page.headers.link ?? '')?.[1]
    }
    assert.deepEqual(seen, ids)
  },
  'accepts an issued key, and rejects the key with a typing error': async ({ send }) => {
    const token = (await send('/issue')).body
    expectOurs(await send('/issued/v1/pets', { headers: { authorization: `Bearer ${token}` } }), 200)
    const mistyped = token.slice(0, -1) + (token.endsWith('a') ? 'b' : 'a')
    const refused = await send('/issued/v1/pets', { headers: { authorization: `Bearer ${mistyped}` } })
    expectError(refused, 401, 'invalid_api_key')
  },
  'responds with 405 to TRACE': async ({ send }) => {
    expectError(await send('/v1/pets', { method: 'TRACE', headers: keyOf('ample') }), 405, 'method_not_allowed')
  },
  'responds with 405 to PROPFIND': async ({ send }) => {
    expectError(await send('/v1/pets', { method: 'PROPFIND', headers: keyOf('ample') }), 405, 'method_not_allowed')
  },
}
