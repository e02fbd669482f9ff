import assert from 'node:assert/strict'
import { expectError, expectJson, post } from '../expect.ts'
import type { Rows } from '../suite.ts'

const GOOD = '{"name":"Rex","categoryId":1}'

/** What a body may be. */
export const bodies: Rows = {
  'a chunked body is read like any other': async ({ send }) => {
    expectJson(await post(send, '/v1/pets', GOOD, {}, true), 201)
  },
  'the content type must say JSON in UTF-8': async ({ send }) => {
    for (const type of ['application/json;charset=utf-8', 'Application/JSON; charset="UTF-8"'])
      expectJson(await post(send, '/v1/pets', GOOD, { 'content-type': type }), 201)
    for (const type of [
      'text/plain',
      'application/json; charset=latin1',
      'application/merge-patch+json',
      'nonsense',
      ';',
    ])
      expectError(await post(send, '/v1/pets', GOOD, { 'content-type': type }), 415, 'unsupported_media_type')
    expectError(await post(send, '/v1/pets', GOOD, { 'content-encoding': 'gzip' }), 415, 'unsupported_media_type')
  },
  '415 states what would be accepted': async ({ send }) => {
    const ofType = await post(send, '/v1/pets', GOOD, { 'content-type': 'text/plain' })
    assert.deepEqual([ofType.status, ofType.headers.accept], [415, 'application/json'])
    const ofCoding = await post(send, '/v1/pets', GOOD, { 'content-encoding': 'gzip' })
    assert.deepEqual([ofCoding.status, ofCoding.headers['accept-encoding']], [415, 'identity'])
  },
  'a form is 415': async ({ send }) => {
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    expectError(await post(send, '/v1/pets', 'name=Rex&categoryId=1', type), 415, 'unsupported_media_type')
  },
  'what is not JSON is 400': async ({ send }) => {
    const broken = [
      '{',
      '{"name":"a","name":"b","categoryId":1}',
      '{"name":"a" "categoryId":1}',
      'null x',
      "{'name':1}",
    ]
    for (const body of broken) expectError(await post(send, '/v1/pets', body), 400, 'malformed_json')
  },
  'no body is 400': async ({ send }) => {
    expectError(await post(send, '/v1/pets', ''), 400, 'malformed_json')
  },
  'bytes that are not UTF-8 are 400, a byte order mark is ignored': async ({ send }) => {
    const invalid = Buffer.concat([Buffer.from('{"name":"'), Buffer.of(0xff), Buffer.from('","categoryId":1}')])
    expectError(await post(send, '/v1/pets', invalid), 400, 'malformed_json')
    expectJson(await post(send, '/v1/pets', `\uFEFF${GOOD}`), 201)
  },
  'every field that is wrong is named': async ({ send }) => {
    const message = expectError(
      await post(send, '/v1/pets', '{"name":"","categoryId":"1","status":5}'),
      400,
      'invalid_body',
    )
    for (const field of ['name', 'categoryId', 'status']) assert.match(message, new RegExp(field))
    for (const body of ['{}', '[]', 'null', '5', '"x"', '{"name":"a","categoryId":1.5}'])
      expectError(await post(send, '/v1/pets', body), 400, 'invalid_body')
  },
  'nesting of any depth is answered': async ({ send }) => {
    const deep = `{"name":"Rex","categoryId":1,"x":${'['.repeat(20_000)}${']'.repeat(20_000)}}`
    expectError(await post(send, '/v1/pets', deep), 400, 'malformed_json')
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
