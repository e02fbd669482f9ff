import assert from 'node:assert/strict'
import { expectError, expectJson, post } from '../expect.ts'
import type { Rows } from '../suite.ts'

const GOOD = '{"name":"Rex","categoryId":1}'

/** What a body may be. */
export const bodies: Rows = {
  'a chunked body is read like any other': async ({ send }) => {
    expectJson(await post(send, '/v1/pets', GOOD, {}, true), 201)
  },
  'a body over the limit is 413, at it is read': async ({ send }) => {
    const fitting = GOOD.padEnd(100)
    expectJson(await post(send, '/small/v1/pets', fitting), 201)
    expectJson(await post(send, '/small/v1/pets', fitting, {}, true), 201)
    expectError(await post(send, '/small/v1/pets', `${fitting} `), 413, 'payload_too_large')
    expectError(await post(send, '/small/v1/pets', `${fitting} `, {}, true), 413, 'payload_too_large')
  },
  'a large body is read whole': async ({ send }) => {
    const name = 'ß'.repeat(1_000)
    const added = await post(send, '/big/v1/pets', JSON.stringify({ name, categoryId: 1, more: 'ß'.repeat(1_000_000) }))
    assert.equal((expectJson(added, 201) as { name: string }).name, name)
  },
}
