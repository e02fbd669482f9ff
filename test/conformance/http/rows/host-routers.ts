import assert from 'node:assert/strict'
import { expectJson, expectOurs, get, post } from '../expect.ts'
import type { Rows } from '../suite.ts'

async function expectLinks(send: Parameters<typeof get>[0], base: string, linked = base): Promise<void> {
  for (let i = 0; i < 2; i++) expectJson(await post(send, `${base}/pets`), 201)
  const { headers } = await get(send, `${base}/pets?limit=1`)
  assert.ok(headers.link?.startsWith(`<${linked}/pets?limit=1&cursor=`), headers.link)
}

/** The ways in which Express mounts a handler. */
export const hostRouters: Rows = {
  'inside a Router under a prefix with a parameter': ({ send }) => expectLinks(send, '/router/acme/inner/v1'),
  'on a wildcard route': ({ send }) => expectLinks(send, '/wild/v1'),
  'under a prefix that is the base path itself': ({ send }) => expectLinks(send, '/exact/v1'),
  'where the host has rewritten the path': ({ send }) => expectLinks(send, '/old/v1', '/rewritten/v1'),
  'where the host has taken something out of the query': async ({ send }) => {
    for (let i = 0; i < 2; i++) expectJson(await post(send, '/tracked/v1/pets'), 201)
    const { headers } = await get(send, '/tracked/v1/pets?utm_source=x&limit=1')
    assert.ok(headers.link?.startsWith('</tracked/v1/pets?limit=1&cursor='), headers.link)
  },
  'where what the host has taken out of the query looks like a path': async ({ send }) => {
    expectJson(await get(send, '/tracked/v1/pets?utm_source=/v1/pets'), 200)
  },
  'where the host has rewritten what is behind a prefix of the base path': async ({ send }) => {
    for (let i = 0; i < 2; i++) expectJson(await post(send, '/renamed/v1/animals'), 201)
    const { headers } = await get(send, '/renamed/v1/animals?per_page=1')
    assert.ok(headers.link?.startsWith('</renamed/v1/pets?limit=1&cursor='), headers.link)
  },
  'where the host has decoded the path': async ({ send }) => {
    const { headers } = await get(send, '/tracked/v1/pets/%37%37')
    assert.equal(headers.link, '</tracked/v1/pets>; rel="successor-version"')
  },
  'an API error never reaches the error handler of the host': async ({ send }) => {
    for (const path of ['/v1/pets?limit=x', '/faulty/v1/pets', '/rejecting/v1/pets', '/json/v1/pets/x'])
      assert.doesNotMatch((await get(send, path)).body, /own handler/)
  },
  'a path that no store answers reaches what comes after': async ({ send }) => {
    assert.equal((await get(send, '/json/other')).body, 'not ours')
    expectOurs(await get(send, '/json/v1/other'), 404)
  },
}
