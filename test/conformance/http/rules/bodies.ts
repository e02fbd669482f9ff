import assert from 'node:assert/strict'
import { expectError, expectJson, post } from '../expect.ts'
import type { Rules } from '../suite.ts'

const GOOD = '{"name":"Rex","categoryId":1}'

/** Rules about request bodies. */
export const bodies: Rules = {
  'reads a chunked body': async ({ send }) => {
    expectJson(await post(send, '/v1/pets', GOOD, {}, true), 201)
  },
  'accepts a body of exactly bodyLimit bytes, and rejects a longer body': async ({ send }) => {
    const fitting = GOOD.padEnd(100)
    expectJson(await post(send, '/small/v1/pets', fitting), 201)
    expectJson(await post(send, '/small/v1/pets', fitting, {}, true), 201)
    expectError(await post(send, '/small/v1/pets', `${fitting} `), 413, 'payload_too_large')
    expectError(await post(send, '/small/v1/pets', `${fitting} `, {}, true), 413, 'payload_too_large')
  },
  'reads a body of several megabytes': async ({ send }) => {
    const name = 'ß'.repeat(1_000)
    const added = await post(send, '/big/v1/pets', JSON.stringify({ name, categoryId: 1, more: 'ß'.repeat(1_000_000) }))
    assert.equal((expectJson(added, 201) as { name: string }).name, name)
  },
}
