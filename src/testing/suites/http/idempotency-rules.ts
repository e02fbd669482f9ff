import type { ContractClient } from './client.ts'
import { check, checkEqual, expectCode, expectHeaders, expectPet } from './expectations.ts'
import { type HttpRule, post, REX, rule } from './rule.ts'

function postWithKey(client: ContractClient, key: string, body?: string | object) {
  return post(client, body, { 'Idempotency-Key': key })
}

/** The tests of `Idempotency-Key`. */
export const idempotencyRules: readonly HttpRule[] = [
  rule('adds one animal for each Idempotency-Key', async (client) => {
    const key = crypto.randomUUID()
    const first = await postWithKey(client, key)
    const pet = expectPet(first, 201)
    expectHeaders(first, { 'Idempotency-Replayed': null })
    const equal = await postWithKey(client, key)
    const quoted = await postWithKey(client, `"${key}"`, ' {"categoryId":1.0, "name":"R\\u0065x"}')
    for (const repeat of [equal, quoted]) {
      checkEqual(expectPet(repeat, 201), pet, `${repeat.name}: the animal in the response to a repeated request`)
      expectHeaders(repeat, { 'Idempotency-Replayed': 'true', Location: first.headers.get('Location') })
    }
    const next = await postWithKey(client, crypto.randomUUID())
    check(expectPet(next, 201).id !== pet.id, `${next.name}: expected a new id for a new key, got ${pet.id} again`)
  }),
  rule('adds one animal for concurrent requests with one Idempotency-Key', async (client) => {
    const key = crypto.randomUUID()
    const responses = await Promise.all(Array.from({ length: 4 }, () => postWithKey(client, key)))
    const ids = new Set(responses.map((response) => expectPet(response, 201).id))
    check(ids.size === 1, `expected one animal for one key, got the ids ${[...ids].join(', ')}`)
    const added = responses.filter(({ headers }) => !headers.has('Idempotency-Replayed'))
    check(added.length === 1, `expected one response without Idempotency-Replayed, got ${added.length}`)
  }),
  rule('responds with 422 to another animal with the same Idempotency-Key', async (client) => {
    const key = crypto.randomUUID()
    expectPet(await postWithKey(client, key), 201)
    for (const change of [{ name: 'Ada' }, { categoryId: 2 }, { status: 'sold' }])
      expectCode(await postWithKey(client, key, { ...REX, ...change }), 'idempotency_key_reused')
  }),
  rule('rejects a malformed Idempotency-Key with 400', async (client) => {
    for (const key of ['""', 'a b', '"a";b=1', '"a", "b"', 'a"', 'x'.repeat(256)]) {
      expectCode(await postWithKey(client, key), 'invalid_idempotency_key')
    }
  }),
]
