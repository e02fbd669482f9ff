import assert from 'node:assert/strict'
import { expectError, expectJson, expectOurs, get, keyOf, post } from '../expect.ts'
import type { Rows } from '../suite.ts'

/** The interface itself: operations, keys, paths and methods. */
export const contract: Rows = {
  'an animal that is added can be read and listed': async ({ send }) => {
    const added = await post(send, '/v1/pets', '{"categoryId":7,"name":"Zoë 🐕","status":"pending","id":5}')
    const { id, ...rest } = expectJson(added, 201) as { id: number }
    assert.deepEqual(rest, { name: 'Zoë 🐕', categoryId: 7, status: 'pending' })
    const read = await get(send, `/v1/pets/${id}`)
    expectOurs(read, 200)
    assert.equal(read.body, added.body)
    const listed = await get(send, '/v1/pets?status=pending&limit=100')
    assert.ok(listed.body.includes(added.body))
  },
  '201 names the path of the animal in Location': async ({ send }) => {
    const added = await post(send, '/v1/pets')
    const { id } = expectJson(added, 201) as { id: number }
    assert.equal(added.headers.location, `/v1/pets/${id}`)
    const read = await get(send, added.headers.location)
    expectOurs(read, 200)
    assert.equal(read.body, added.body)
  },
  'integers beyond 2^53 keep every digit': async ({ send }) => {
    const added = await post(send, '/v1/pets', '{"name":"Rex","categoryId":9223372036854775807}')
    expectOurs(added, 201)
    assert.match(added.body, /"categoryId":9223372036854775807,"status":"available"}$/)
  },
  'an id that is no int64, or of no animal, is 404': async ({ send }) => {
    for (const id of ['abc', '01', '-0', '9223372036854775808', '9007199254740993'])
      expectError(await get(send, `/v1/pets/${id}`), 404, 'pet_not_found')
  },
  'getPet announces its removal': async ({ send }) => {
    const { headers } = await get(send, '/v1/pets/1234567')
    assert.equal(headers.deprecation, '@1764892800')
    assert.equal(headers.sunset, 'Thu, 05 Dec 2030 00:00:00 GMT')
    assert.equal(headers.link, '</v1/pets>; rel="successor-version"')
  },
  'pages follow each other to the end': async ({ send }) => {
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
  'X-Next-Cursor leads to the same page as Link': async ({ send }) => {
    for (let i = 0; i < 2; i++) await post(send, '/v1/pets')
    const { headers } = await get(send, '/v1/pets?limit=1')
    const cursor = headers['x-next-cursor']
    assert.equal(headers.link, `</v1/pets?limit=1&cursor=${cursor}>; rel="next"`)
    expectJson(await get(send, `/v1/pets?limit=1&cursor=${cursor}`), 200)
    assert.equal(
      (await get(send, '/v1/pets?limit=1&cursor=MTo5MDA3MTk5MjU0NzQwOTkx')).headers['x-next-cursor'],
      undefined,
    )
  },
  'a wrong query parameter is 400 and named': async ({ send }) => {
    for (const query of ['limit=0', 'limit=101', 'limit=%2B5', 'limit=05', 'limit=1e1', 'limit=', 'limit=1&limit=2'])
      assert.match(expectError(await get(send, `/v1/pets?${query}`), 400, 'invalid_parameter'), /limit/)
    for (const query of ['status=Sold', 'status=', 'cursor=x', 'status=sold&status=sold'])
      expectError(await get(send, `/v1/pets?${query}`), 400, 'invalid_parameter')
    expectOurs(await get(send, '/v1/pets?limit=1&colour=red'), 200)
  },
  'a missing key and a wrong one are told apart': async ({ send }) => {
    const missing = await send('/v1/pets')
    expectError(missing, 401, 'missing_api_key')
    assert.equal(missing.headers['www-authenticate'], 'Bearer realm="petstore"')
    for (const authorization of ['Bearer nobody', 'Basic YTpi', 'Bearer', 'Bearer a b']) {
      const wrong = await send('/v1/pets', { headers: { authorization } })
      expectError(wrong, 401, 'invalid_api_key')
      const error = authorization.startsWith('Bearer') ? ', error="invalid_token"' : ''
      assert.equal(wrong.headers['www-authenticate'], `Bearer realm="petstore"${error}`)
    }
  },
  'the scheme is read without regard to case': async ({ send }) => {
    const { authorization } = keyOf('ample')
    expectOurs(
      await send('/v1/pets', { headers: { authorization: authorization.replace('Bearer ', 'bEARER   ') } }),
      200,
    )
  },
  'a key that was issued works, a mistyped one does not': async ({ send }) => {
    const token = (await send('/issue')).body
    expectOurs(await send('/issued/v1/pets', { headers: { authorization: `Bearer ${token}` } }), 200)
    const mistyped = token.slice(0, -1) + (token.endsWith('a') ? 'b' : 'a')
    const refused = await send('/issued/v1/pets', { headers: { authorization: `Bearer ${mistyped}` } })
    expectError(refused, 401, 'invalid_api_key')
  },
  'an unknown path below the base is 404, after the key': async ({ send }) => {
    for (const path of ['/v1/', '/v1/dogs', '/v1/pets/1/owner', '/v1/pets//', '/v1/PETS'])
      expectError(await get(send, path), 404, 'route_not_found')
    expectError(await send('/v1/dogs'), 401, 'missing_api_key')
  },
  'the base path itself is 404': async ({ send }) => {
    expectError(await get(send, '/v1'), 404, 'route_not_found')
  },
  'one trailing slash is tolerated': async ({ send }) => {
    expectJson(await get(send, '/v1/pets/'), 200)
  },
  'a method that a path does not take is 405': async ({ send }) => {
    for (const method of ['DELETE', 'PUT', 'PATCH']) {
      const refused = await send('/v1/pets', { method, headers: keyOf('ample') })
      expectError(refused, 405, 'method_not_allowed')
      assert.equal(refused.headers.allow, 'GET, HEAD, POST, OPTIONS')
    }
    const refused = await post(send, '/v1/pets/1')
    expectError(refused, 405, 'method_not_allowed')
    assert.equal(refused.headers.allow, 'GET, HEAD, OPTIONS')
  },
  'TRACE is 405': async ({ send }) => {
    expectError(await send('/v1/pets', { method: 'TRACE', headers: keyOf('ample') }), 405, 'method_not_allowed')
  },
  'a method that few know is 405': async ({ send }) => {
    expectError(await send('/v1/pets', { method: 'PROPFIND', headers: keyOf('ample') }), 405, 'method_not_allowed')
  },
  'HEAD is GET without the body': async ({ send }) => {
    for (const [target, status] of [
      ['/v1/pets?limit=1', 200],
      ['/v1/pets/999999', 404],
    ] as const) {
      const [whole, head] = [await get(send, target), await send(target, { method: 'HEAD', headers: keyOf('ample') })]
      expectOurs(head, status)
      assert.equal(head.headers['content-type'], 'application/json')
      assert.equal(head.headers['content-length'], String(whole.bytes.length))
      assert.equal(head.body, '')
    }
  },
  'OPTIONS tells what a path takes': async ({ send }) => {
    const told = await send('/v1/pets', { method: 'OPTIONS', headers: keyOf('ample') })
    expectOurs(told, 204)
    assert.equal(told.headers.allow, 'GET, HEAD, POST, OPTIONS')
    assert.equal(told.body, '')
  },
}
