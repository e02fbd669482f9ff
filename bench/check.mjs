import assert from 'node:assert/strict'
import { created, PETS, pet } from './contestants/fixtures.mjs'

const expected = Array.from({ length: PETS }, (_, i) => ({ id: i + 1, ...pet(i) }))

/** Checks that a server gives right responses, before anything is measured. Throws an error that names the server. */
export async function checkServer(server) {
  try {
    await (server.repeats ? checkBytes(server) : checkAll(server))
  } catch (error) {
    throw new Error(`${server.name} gives a wrong response: ${error.message}`, { cause: error })
  }
}

async function checkAll({ port, tokens, withoutHeaders }) {
  const send = sender(port, withoutHeaders)
  const list = await send('/v1/pets', tokens.main, 200)
  assert.deepEqual(list.json, expected.slice(0, 20))
  const second = await send(/<([^>]+)>; rel="next"/.exec(list.headers.get('link'))?.[1], tokens.main, 200)
  assert.deepEqual(second.json, expected.slice(20, 40))
  const sold = expected.filter(({ status }) => status === 'sold')
  assert.deepEqual((await send('/v1/pets?status=sold&limit=7', tokens.main, 200)).json, sold.slice(0, 7))
  await send('/v1/pets?status=eaten', tokens.main, 400)
  await send('/v1/pets?limit=101', tokens.main, 400)

  const { id, ...stored } = (await send('/v1/pets', tokens.main, 201, created)).json
  assert.deepEqual(stored, created)
  assert.deepEqual((await send(`/v1/pets/${id}`, tokens.main, 200)).json, { id, ...created })
  await send('/v1/pets', tokens.main, 400, { name: 'Rex' })
  await send('/v1/pets', tokens.main, 400, { name: 'Rex', categoryId: 'one' })
  await send('/v1/pets/999999', tokens.main, 404)

  await send('/v1/pets', undefined, 401)
  await send('/v1/pets', 'pet_bench_unknown', 401)
  await send('/v1/pets', tokens.limited, 200)
  const refused = await send('/v1/pets', tokens.limited, 429)
  assert.ok(refused.headers.has('retry-after'), 'a 429 without Retry-After')
}

async function checkBytes({ port, tokens }) {
  const send = sender(port)
  assert.deepEqual((await send('/v1/pets', tokens.main, 200)).json, expected.slice(0, 20))
  const { id: _, ...stored } = (await send('/v1/pets', tokens.main, 201, created)).json
  assert.deepEqual(stored, created)
  await send('/v1/pets', 'pet_bench_unknown', 401)
  await send('/v1/pets', tokens.limited, 429)
}

/** Some rate limiters name their headers without `X-`. */
const HEADERS = ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset']

/**
 * Returns a function that sends a request, and checks the status, the rate-limit headers and that the body is JSON. Responses with
 * a status in `withoutHeaders` need no rate-limit headers.
 */
function sender(port, withoutHeaders = []) {
  return async (path, token, status, body) => {
    const headers = {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
    }
    const init = body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers }
    const response = await fetch(`http://127.0.0.1:${port}${path}`, init)
    const text = await response.text()
    const request = `${init.method ?? 'GET'} ${path}`
    assert.equal(response.status, status, `${request} got ${response.status}, expected ${status}: ${text}`)
    for (const name of withoutHeaders.includes(status) ? [] : HEADERS) {
      const value = response.headers.get(`x-${name}`) ?? response.headers.get(name)
      assert.match(value ?? 'nothing', /^\d+$/, `${request} got ${value} in the header ${name}`)
    }
    const type = response.headers.get('content-type')
    assert.match(type ?? '', /json/, `${request} got the content type ${type}`)
    return { headers: response.headers, json: JSON.parse(text) }
  }
}
