import assert from 'node:assert/strict'
import { expectError, expectJson, get, post } from '../expect.ts'
import type { Rules } from '../suite.ts'

/** Rules about paths: the host serves some of them, and the pet store serves the others. */
export const mounting: Rules = {
  "leaves the host's own routes to the host": async ({ send }) => {
    for (const path of ['/before', '/after']) {
      const own = await send(path)
      assert.equal(own.status, 200)
      assert.equal(own.body, `own ${path}`)
      assert.equal(own.headers['x-ratelimit-limit'], undefined)
    }
  },
  'leaves paths outside the base path to the host': async ({ send }) => {
    for (const path of ['/elsewhere', '/v1x/pets', '/pets', '/v2/pets', '/main/v1']) {
      const passed = await get(send, path)
      assert.equal(passed.status, 404)
      assert.equal(passed.body, 'not ours')
    }
  },
  'links contain the prefix under which the host mounts the store': async ({ send }) => {
    for (let i = 0; i < 2; i++) expectJson(await post(send, '/shop/v1/pets'), 201)
    const page = await get(send, '/shop/v1/pets?limit=1')
    expectJson(page, 200)
    const next = /^<(\/shop\/v1\/pets\?limit=1&cursor=[\w-]+)>; rel="next"$/.exec(page.headers.link ?? '')?.[1]
    assert.ok(next !== undefined, page.headers.link)
    expectJson(await get(send, next), 200)
    const gone = await get(send, '/shop/v1/pets/77')
    expectError(gone, 404, 'pet_not_found')
    assert.equal(gone.headers.link, '</shop/v1/pets>; rel="successor-version"')
    expectError(await get(send, '/shop/v1/dogs'), 404, 'route_not_found')
  },
  'responds with 404 to two slashes before the base path': async ({ send }) => {
    assert.equal((await get(send, '/shop//v1/pets')).status, 404)
  },
  'ignores the Host header in links': async ({ send }) => {
    const { headers } = await get(send, '/v1/pets/77', { host: 'evil.example' })
    assert.equal(headers.link, '</v1/pets>; rel="successor-version"')
  },
}
