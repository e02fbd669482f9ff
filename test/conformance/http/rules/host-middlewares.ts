import assert from 'node:assert/strict'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expectError, expectJson, expectOurs, get, keyOf, post } from '../expect.ts'
import type { Rule, Rules } from '../suite.ts'

const encodings = { gzip: gunzipSync, br: brotliDecompressSync }

/** Returns a rule that checks the compressed responses of the store at this base path. */
const compressed = (base: string): Rule => {
  return async ({ send }) => {
    for (let i = 0; i < 3; i++) expectJson(await post(send, `${base}/pets`), 201)
    for (const [encoding, decode] of Object.entries(encodings)) {
      const page = await get(send, `${base}/pets?limit=2`, { 'accept-encoding': encoding })
      expectOurs(page, 200)
      assert.equal(page.headers['content-encoding'], encoding)
      assert.equal(page.headers['content-length'], undefined)
      assert.match(page.headers.vary ?? '', /Accept-Encoding/)
      assert.match(page.headers.link ?? '', /rel="next"/)
      assert.equal(JSON.parse(decode(page.bytes).toString()).length, 2)
      const failed = await get(send, `${base}/dogs`, { 'accept-encoding': encoding })
      assert.equal(failed.status, 404)
      assert.equal(JSON.parse(decode(failed.bytes).toString()).code, 'route_not_found')
    }
    const plain = await get(send, `${base}/pets?limit=2`)
    assert.equal(plain.headers['content-length'], String(plain.bytes.length))
  }
}

const headOnly = (base: string): Rule => {
  return async ({ send }) => {
    const headers = { ...keyOf('ample'), 'accept-encoding': 'gzip' }
    const head = await send(`${base}/pets`, { method: 'HEAD', headers })
    expectOurs(head, 200)
    assert.equal(head.body, '')
  }
}

/** Rules about middleware that observes or changes the response. */
export const hostMiddlewares: Rules = {
  'compression: compresses responses and repeats no header': compressed('/with-compression/v1'),
  'compression: HEAD has no body': headOnly('/with-compression/v1'),
  'compression: OPTIONS gets 204': async ({ send }) => {
    const headers = { ...keyOf('ample'), 'accept-encoding': 'gzip' }
    expectOurs(await send('/with-compression/v1/pets', { method: 'OPTIONS', headers }), 204)
  },
  'compression: responds to a rejected upload': async ({ send }) => {
    const headers = { 'accept-encoding': 'gzip', 'content-type': 'text/plain' }
    for (const chunked of [false, true]) {
      const refused = await post(send, '/with-compression/v1/pets', 'x'.repeat(1_200_000), headers, chunked)
      assert.equal(refused.status, 415)
      assert.equal(JSON.parse(gunzipSync(refused.bytes).toString()).code, 'unsupported_media_type')
    }
  },
  'helmet: keeps the headers of helmet': async ({ send }) => {
    const received = await get(send, '/with-helmet/v1/pets')
    expectJson(received, 200)
    assert.equal(received.headers['x-content-type-options'], 'nosniff')
    assert.ok(received.headers['content-security-policy'])
    assert.equal(received.headers['x-powered-by'], undefined)
  },
  'morgan: logs the status of the response': async ({ send }) => {
    await get(send, '/with-morgan/v1/pets')
    await get(send, '/with-morgan/v1/dogs')
    await send('/with-morgan/v1/pets')
    const log = JSON.parse((await send('/log')).body)
    for (const line of ['/pets 200', '/dogs 404', '/pets 401'])
      assert.ok(log.includes(`GET /with-morgan/v1${line}`), line)
  },
  'cors: keeps the headers of cors': async ({ send }) => {
    const received = await get(send, '/with-cors/v1/pets', { origin: 'https://shop.example' })
    expectJson(received, 200)
    assert.equal(received.headers['access-control-allow-origin'], 'https://shop.example')
  },
  'all middleware: compresses responses and repeats no header': compressed('/everything/v1'),
  'all middleware: HEAD has no body': headOnly('/everything/v1'),
  'all middleware: an error response keeps the headers of every middleware': async ({ send }) => {
    const refused = await send('/everything/v1/pets', { headers: { origin: 'https://shop.example' } })
    expectError(refused, 401, 'missing_api_key')
    assert.match(refused.headers.vary ?? '', /Origin.*Accept-Encoding/)
    assert.equal(refused.headers['access-control-allow-credentials'], 'true')
    assert.equal(refused.headers['x-frame-options'], 'SAMEORIGIN')
  },
}
