import assert from 'node:assert/strict'
import { expectError, expectJson, post } from '../expect.ts'
import type { RuleHost, Rules } from '../suite.ts'

const GOOD = '{"name":"Zoë","categoryId":7}'
const LONG = '{"name":"Rex","categoryId":9007199254740993}'

/** Checks that the store gets the exact bytes of a body that the host has parsed. Each parser has a mount path with its name. */
async function expectExact({ send }: RuleHost, parser: string): Promise<void> {
  const added = await post(send, `/${parser}/v1/pets`, LONG)
  expectJson(added, 201)
  assert.match(added.body, /"categoryId":9007199254740993,/)
  expectJson(await post(send, `/${parser}/v1/pets`, GOOD, {}, true), 201)
  expectError(await post(send, `/${parser}/v1/pets`, '{"name":"","categoryId":1}'), 400, 'invalid_body')
}

async function expectLost({ send }: RuleHost, parser: string): Promise<void> {
  const message = expectError(await post(send, `/${parser}/v1/pets`, GOOD), 500, 'body_already_read')
  assert.match(message, /exact bytes/)
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  expectError(await post(send, `/${parser}/v1/pets`, 'name=Rex', form), 415, 'unsupported_media_type')
}

/** Rules about bodies that the host has read, wholly or partly, before the store gets the request. */
export const hostParsers: Rules = {
  'express.json: accepts a parsed body if no number was rounded': async ({ send }) => {
    const added = await post(send, '/json/v1/pets', GOOD)
    assert.deepEqual(
      { ...(expectJson(added, 201) as object), id: 0 },
      { ...JSON.parse(GOOD), status: 'available', id: 0 },
    )
    expectError(await post(send, '/json/v1/pets', '{}'), 400, 'invalid_body')
    expectError(await post(send, '/json/v1/pets', ' { } '), 400, 'invalid_body')
    expectError(await post(send, '/json/v1/pets', '[1]'), 400, 'invalid_body')
    expectError(await post(send, '/json/v1/pets', '{"name":"Rex","categoryId":1.5}'), 400, 'invalid_body')
  },
  'express.json: rejects a number that may have been rounded': async ({ send }) => {
    for (const id of ['9007199254740993', '-9007199254740993', '1e400', '9007199254740992'])
      expectError(await post(send, '/json/v1/pets', `{"name":"Rex","categoryId":${id}}`), 500, 'body_already_read')
  },
  'express.json: rejects an empty body and other types': async ({ send }) => {
    expectError(await post(send, '/json/v1/pets', ''), 400, 'malformed_json')
    expectError(
      await post(send, '/json/v1/pets', GOOD, { 'content-type': 'text/plain' }),
      415,
      'unsupported_media_type',
    )
  },
  'express.json with rawBody: reads the exact bytes': (host) => expectExact(host, 'kept'),
  'express.json with rawBody as text: reads the exact text': (host) => expectExact(host, 'keptText'),
  'express.raw: reads the exact bytes': (host) => expectExact(host, 'raw'),
  'express.text: rejects the text': (host) => expectLost(host, 'text'),
  'rejects invalid UTF-8 that a parser has kept': async ({ send }) => {
    const invalid = Buffer.concat([Buffer.from('{"name":"'), Buffer.of(0xff), Buffer.from('","categoryId":1}')])
    expectError(await post(send, '/keptText/v1/pets', invalid), 500, 'body_already_read')
    expectError(await post(send, '/raw/v1/pets', invalid), 400, 'malformed_json')
  },
  'express.urlencoded: reads JSON, and rejects a form with 415': async (host) => {
    await expectExact(host, 'urlencoded')
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    expectError(await post(host.send, '/urlencoded/v1/pets', 'name=Rex', form), 415, 'unsupported_media_type')
  },
  'multer: reads JSON, and rejects a form with 415': async (host) => {
    await expectExact(host, 'multer')
    const form = { 'content-type': 'multipart/form-data; boundary=x' }
    const body = '--x\r\nContent-Disposition: form-data; name="name"\r\n\r\nRex\r\n--x--\r\n'
    expectError(await post(host.send, '/multer/v1/pets', body, form), 415, 'unsupported_media_type')
  },
  'reads the body after a parser that did not match': (host) => expectExact(host, 'unmatched'),
  'rejects a body that the host has read and not kept': (host) => expectLost(host, 'consumed'),
  'rejects a body if the host has read part of it': (host) => expectLost(host, 'halfRead'),
  'reads a body that the host has paused': (host) => expectExact(host, 'paused'),
  'applies bodyLimit to parsed bodies': async ({ send }) => {
    const large = JSON.stringify({ name: 'x'.repeat(70_000), categoryId: 1 })
    for (const parser of ['json', 'kept', 'raw']) {
      const refused = await post(send, `/${parser}/v1/pets`, large, {}, true)
      expectError(refused, 413, 'payload_too_large')
    }
  },
}
