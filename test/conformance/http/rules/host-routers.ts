import assert from 'node:assert/strict'
import { expectJson, expectOurs, get, post } from '../expect.ts'
import type { Rules } from '../suite.ts'

async function expectLinks(send: Parameters<typeof get>[0], base: string, linked = base): Promise<void> {
  for (let i = 0; i < 2; i++) expectJson(await post(send, `${base}/pets`), 201)
  const { headers } = await get(send, `${base}/pets?limit=1`)
  assert.ok(headers.link?.startsWith(`<${linked}/pets?limit=1&cursor=`), headers.link)
}

/** Conformance tests of the ways in which Express mounts a handler. */
export const hostRouters: Rules = {
  'links contain the mount path of a Router with a parameter': ({ send }) => expectLinks(send, '/router/acme/inner/v1'),
  'links contain the mount path of a wildcard route': ({ send }) => expectLinks(send, '/wild/v1'),
  'links contain the prefix if it equals the base path': ({ send }) => expectLinks(send, '/exact/v1'),
  'links contain the path to which the host has rewritten the request': ({ send }) =>
    expectLinks(send, '/old/v1', '/rewritten/v1'),
  'links contain no query parameter that the host has removed': async ({ send }) => {
    for (let i = 0; i < 2; i++) expectJson(await post(send, '/tracked/v1/pets'), 201)
    const { headers } = await get(send, '/tracked/v1/pets?utm_source=x&limit=1')
    assert.ok(headers.link?.startsWith('</tracked/v1/pets?limit=1&cursor='), headers.link)
  },
  'serves a request after the host has removed its query': async ({ send }) => {
    expectJson(await get(send, '/tracked/v1/pets?utm_source=/v1/pets'), 200)
  },
  'links contain the rewritten path below a prefix': async ({ send }) => {
    for (let i = 0; i < 2; i++) expectJson(await post(send, '/renamed/v1/animals'), 201)
    const { headers } = await get(send, '/renamed/v1/animals?per_page=1')
    assert.ok(headers.link?.startsWith('</renamed/v1/pets?limit=1&cursor='), headers.link)
  },
  'links contain the mount path after the host has decoded the URL': async ({ send }) => {
    const { headers } = await get(send, '/tracked/v1/pets/%37%37')
    assert.equal(headers.link, '</tracked/v1/pets>; rel="successor-version"')
  },
  'no API error reaches the error handler of the host': async ({ send }) => {
    for (const path of ['/v1/pets?limit=x', '/faulty/v1/pets', '/rejecting/v1/pets', '/json/v1/pets/x'])
      assert.doesNotMatch((await get(send, path)).body, /own handler/)
  },
  'calls next for a path outside the base path': async ({ send }) => {
    assert.equal((await get(send, '/json/other')).body, 'not ours')
    expectOurs(await get(send, '/json/v1/other'), 404)
  },
}
