import { Readable } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { petStatuses } from '../../../src/index.ts'
import { parseNewPet } from '../../../src/pets/body.ts'
import { newPet } from '../../../src/schemas/pet.ts'
import { startApi } from '../../support/api.ts'

const big = { plans: { free: { perMinute: 1_000_000, perDay: 1_000_000 } } }
const fields = ['name', 'categoryId', 'status']

describe('createPet', () => {
  test('responds to any JSON value with 201, or with 400 and the reason', async () => {
    const { add } = await startApi(big)
    const value = fc.oneof(
      fc.jsonValue(),
      fc.record({ name: fc.jsonValue(), categoryId: fc.jsonValue(), status: fc.jsonValue() }, { requiredKeys: [] }),
    )
    await fc.assert(
      fc.asyncProperty(value, async (value) => {
        const { status, code, message } = await add(JSON.stringify(value))
        if (status === 201) return
        expect([status, code]).toEqual([400, 'invalid_body'])
        const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
        expect(fields.some((field) => message.includes(`${field}: expected`))).toBe(isObject)
        if (!isObject) expect(message).toMatch(/expected an object with name and categoryId, got /)
      }),
      { numRuns: 500 },
    )
  })

  test('rejects a repeated member name at any depth with 400', async () => {
    const { add } = await startApi(big)
    interface Piece {
      readonly text: string
      readonly repeats: boolean
    }
    const { value } = fc.letrec<{ value: Piece; array: Piece; object: Piece }>((tie) => ({
      value: fc.oneof({ maxDepth: 4 }, fc.constant({ text: '":"', repeats: false }), tie('array'), tie('object')),
      array: fc.array(tie('value'), { maxLength: 4 }).map((items) => ({
        text: `[${items.map(({ text }) => text).join()}]`,
        repeats: items.some(({ repeats }) => repeats),
      })),
      object: fc
        .array(fc.tuple(fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor', '\\u0061'), tie('value')), {
          maxLength: 4,
        })
        .map((members) => ({
          text: `{${members.map(([name, { text }]) => `"${name}": ${text}`).join()}}`,
          repeats:
            new Set(members.map(([name]) => (name === '\\u0061' ? 'a' : name))).size < members.length ||
            members.some(([, { repeats }]) => repeats),
        })),
    }))
    await fc.assert(
      fc.asyncProperty(value, async ({ text, repeats }) => {
        expect((await add(text)).code).toBe(repeats ? 'malformed_json' : 'invalid_body')
      }),
      { numRuns: 500 },
    )
  })

  test('accepts exactly the animals that follow the rules of each member', () => {
    const maybe = (valid: fc.Arbitrary<unknown>) => fc.oneof({ weight: 3, arbitrary: valid }, fc.anything())
    const text = fc.string({ unit: fc.constantFrom('a', ' ', '\x85', '\0', '\ud800', '\u{1f600}'), maxLength: 6 })
    const int64 = fc.bigInt({ min: -(2n ** 63n) - 2n, max: 2n ** 63n + 1n })
    const status = fc.constantFrom(...petStatuses, 'lost', undefined)
    const body = fc.record({ name: maybe(text), categoryId: maybe(int64), status: maybe(status) })
    const isAccepted = (value: unknown) => {
      try {
        parseNewPet(newPet({ maxNameLength: 5 }), value)
        return true
      } catch {
        return false
      }
    }
    fc.assert(
      fc.property(body, (value) => {
        const { name, categoryId, status } = value
        const isName = typeof name === 'string' && [...name].length <= 5 && name.isWellFormed() && !name.includes('\0')
        const isValid =
          isName &&
          /[^ \x85]/.test(name.trim()) &&
          typeof categoryId === 'bigint' &&
          BigInt.asIntN(64, categoryId) === categoryId &&
          [...petStatuses, undefined].some((one) => one === status)
        expect(isAccepted(value)).toBe(isValid)
      }),
      { numRuns: 1_000 },
    )
  })

  test('responds to any bytes with 201 or 4xx', async () => {
    const { add } = await startApi(big)
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (body) => {
        const { status } = await add('', { body })
        expect(status === 201 || (status >= 400 && status < 500)).toBe(true)
      }),
      { numRuns: 500 },
    )
  })

  test('createPet keeps every int64 exact, also if it is written as 7.0 or 70e-1', async () => {
    const { add } = await startApi(big)
    const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
    await fc.assert(
      fc.asyncProperty(int64, fc.constantFrom('', '.0', '.000', 'e0', 'E+0', '0e-1'), async (id, suffix) => {
        // JSON allows no leading zero, as in `00e-1`.
        const number = id === 0n && suffix === '0e-1' ? '0e-1' : `${id}${suffix}`
        const { status, text } = await add(`{"name":"Rex","categoryId":${number}}`)
        expect(status).toBe(201)
        expect(text).toContain(`"categoryId":${id},`)
      }),
    )
  })

  test('createPet returns every name unchanged', async () => {
    const { add } = await startApi(big)
    const name = fc
      .string({ unit: 'grapheme', minLength: 1 })
      .filter((name) => /[^\s\u0085]/.test(name) && !name.includes('\0'))
    await fc.assert(
      fc.asyncProperty(name, async (name) => {
        const { json } = await add(JSON.stringify({ name, categoryId: 1 }))
        expect(json).toMatchObject({ name })
      }),
    )
  })
})

describe('rejected bodies', () => {
  test('a body of more than 2,000 values gets 400', async () => {
    const { add } = await startApi()
    expect((await add(`[${'0,'.repeat(1_999)}0]`)).code).toBe('invalid_body')
    expect((await add(`[${'0,'.repeat(2_000)}0]`)).code).toBe('malformed_json')
  })

  test.each([
    ['', 'malformed_json'],
    [' ', 'malformed_json'],
    ['{', 'malformed_json'],
    ['{"name":"Rex","categoryId":1,}', 'malformed_json'],
    ['{"name":"Rex","categoryId":1} x', 'malformed_json'],
    ["{'name':'Rex','categoryId':1}", 'malformed_json'],
    ['{"name":"Rex","categoryId":01}', 'malformed_json'],
    ['{"name":"Rex","categoryId":+1}', 'malformed_json'],
    ['{"name":"Rex","categoryId":NaN}', 'malformed_json'],
    ['{"name":"Rex","name":"Max","categoryId":1}', 'malformed_json'],
    ['{"name":"Rex","name":"Rex","categoryId":1}', 'malformed_json'],
    ['{"name":"Rex","categoryId":1,"x":{"a":[{"b":1,"b":1}]}}', 'malformed_json'],
    ['{"name":"Rex","n\\u0061me":"Rex","categoryId":1}', 'malformed_json'],
    ['[{"a":1,"a":1},2]', 'malformed_json'],
    ['{"name":"\\"","categoryId":1,"categoryId":1}', 'malformed_json'],
    ['{"name":"a\nb","categoryId":1}', 'malformed_json'],
    ['null', 'invalid_body'],
    ['[]', 'invalid_body'],
    ['7', 'invalid_body'],
    ['"Rex"', 'invalid_body'],
    ['{}', 'invalid_body'],
    ['{"name":"Rex"}', 'invalid_body'],
    ['{"categoryId":1}', 'invalid_body'],
    ['{"name":"Rex","categoryId":"1"}', 'invalid_body'],
    ['{"name":"Rex","categoryId":1.5}', 'invalid_body'],
    ['{"name":"Rex","categoryId":1e-1}', 'invalid_body'],
    ['{"name":"Rex","categoryId":9223372036854775808}', 'invalid_body'],
    ['{"name":"Rex","categoryId":-9223372036854775809}', 'invalid_body'],
    ['{"name":"Rex","categoryId":1e19}', 'invalid_body'],
    ['{"name":"Rex","categoryId":1e999999999999}', 'invalid_body'],
    ['{"name":"","categoryId":1}', 'invalid_body'],
    ['{"name":" \\t\\n\\u00a0","categoryId":1}', 'invalid_body'],
    ['{"name":"\\u0085\\u3000","categoryId":1}', 'invalid_body'],
    ['{"name":"a\\u0000b","categoryId":1}', 'invalid_body'],
    ['{"name":"a\\ud800b","categoryId":1}', 'invalid_body'],
    ['{"name":null,"categoryId":1}', 'invalid_body'],
    ['{"name":"Rex","categoryId":1,"status":null}', 'invalid_body'],
    ['{"name":"Rex","categoryId":1,"status":"Available"}', 'invalid_body'],
    ['{"__proto__":{"name":"Rex","categoryId":1}}', 'invalid_body'],
  ])('the body %s gets %s', async (body, code) => {
    const { add } = await startApi()
    const got = await add(body)
    expect([got.status, got.code]).toEqual([400, code])
    expect(Object.keys(got.json as object)).toEqual(['code', 'message', 'status'])
  })

  test('the message describes every wrong field', async () => {
    const { add } = await startApi()
    const { message } = await add('{"name":7,"categoryId":"7","status":"lost"}')
    expect(message).toBe(
      'The body is not a valid animal: ' +
        'name: expected a string of at most 1000 characters, at least one of them not white space, without U+0000 and lone surrogates, got the number 7; ' +
        'categoryId: expected an integer from -2^63 to 2^63-1, got the string "7"; ' +
        'status: expected one of available, pending, sold, got the string "lost".',
    )
  })

  test('reads no member of a polluted Object.prototype', async () => {
    const { add } = await startApi()
    onTestFinished(() => void Reflect.deleteProperty(Object.prototype, 'categoryId'))
    Object.defineProperty(Object.prototype, 'categoryId', { value: 7n, configurable: true })
    expect((await add('{"name":"Rex"}')).code).toBe('invalid_body')
  })

  test('counts the characters of a name as code points', async () => {
    const { add } = await startApi()
    const named = (name: string) => JSON.stringify({ name, categoryId: 1 })
    expect((await add(named('🐕'.repeat(1_000)))).status).toBe(201)
    expect((await add(named('🐕'.repeat(1_001)))).message).toContain(
      'name: expected a string of at most 1000 characters',
    )
    expect((await add(named(`${'🐕'.repeat(999)}ab`))).status).toBe(400)
  })

  test('the message about a malformed body contains no lone surrogate', async () => {
    const { add } = await startApi(big)
    const piece = fc.constantFrom('😀', '\\ud83d', '"', '{', '}', '"a":1', ',', '-', '\\u')
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { minLength: 1 }), async (pieces) => {
        const { json } = await add(pieces.join(''))
        expect((json as { message?: string }).message?.isWellFormed()).not.toBe(false)
      }),
      { numRuns: 500 },
    )
  })

  test.each([
    ['[', ']'],
    ['{"a":', '}'],
  ])('a body that is nested to any depth with %s gets a response', async (open, close) => {
    const { add } = await startApi()
    for (const depth of [256, 257, 5_000, 10_000]) {
      const inner = `${open.repeat(depth)}1${close.repeat(depth)}`
      expect((await add(inner)).status).toBe(400)
      expect((await add(`{"name":"Rex","categoryId":1,"x":${inner}}`)).status).toBe(400)
      expect((await add(open.repeat(depth))).status).toBe(400)
    }
    expect((await add(`{"name":"Rex","categoryId":1,"x":${open.repeat(255)}1${close.repeat(255)}}`)).status).toBe(201)
  })
})

describe('accepted bodies', () => {
  test.each([
    ['{"name":"Rex","categoryId":7}', '"categoryId":7,'],
    ['{"name":"Rex","categoryId":7.0}', '"categoryId":7,'],
    ['{"name":"Rex","categoryId":70e-1}', '"categoryId":7,'],
    ['{"name":"Rex","categoryId":0.7e1}', '"categoryId":7,'],
    ['{"name":"Rex","categoryId":0.00000000000000000000007e23}', '"categoryId":7,'],
    ['{"name":"Rex","categoryId":-0}', '"categoryId":0,'],
    ['{"name":"Rex","categoryId":0e999999}', '"categoryId":0,'],
    ['{"name":"Rex","categoryId":9223372036854775807}', '"categoryId":9223372036854775807,'],
    ['{"name":"Rex","categoryId":-9223372036854775808}', '"categoryId":-9223372036854775808,'],
    ['{"name":"Rex","categoryId":9007199254740993}', '"categoryId":9007199254740993,'],
    ['\ufeff{"name":"Rex","categoryId":1}', '"name":"Rex"'],
    ['{"id":99,"name":"Rex","categoryId":1,"colour":"red","__proto__":{"status":"sold"}}', '{"id":1,'],
    ['{"name":"Rex","categoryId":1,"status":"sold"}', '"status":"sold"'],
    ['{"name":"\\":::","categoryId":1}', '"name":"\\":::"'],
    ['{"name":"Rex \\ud83d\\udc15 \\"x\\" \\\\","categoryId":1}', '"name":"Rex 🐕 \\"x\\" \\\\"'],
  ])('the body %s gets 201', async (body, expected) => {
    const { add } = await startApi()
    const { status, text } = await add(body)
    expect(status).toBe(201)
    expect(text).toContain(expected)
  })

  test('a new animal gets the status of the option defaultStatus', async () => {
    const body = '{"name":"Rex","categoryId":1}'
    expect((await (await startApi()).add(body)).json).toMatchObject({ status: 'available' })
    expect((await (await startApi({ defaultStatus: 'pending' })).add(body)).json).toMatchObject({ status: 'pending' })
  })
})

describe('content types', () => {
  const body = '{"name":"Rex","categoryId":1}'

  test('rejects a missing content type with 415', async () => {
    const { petStore, token, add } = await startApi()
    const request = new Request('http://x/v1/pets', {
      method: 'POST',
      body: new TextEncoder().encode(body),
      headers: { authorization: `Bearer ${token}` },
    })
    expect((await petStore.fetch(request)).status).toBe(415)
    expect((await add(body, { headers: { 'content-encoding': 'gzip' } })).status).toBe(415)
    for (const coding of ['identity', 'Identity'])
      expect((await add(body, { headers: { 'content-encoding': coding } })).status).toBe(201)
  })
})

describe('the body limit', () => {
  const post = async (body: BodyInit, bodyLimit?: number, headers: Record<string, string> = {}) => {
    const { petStore, token } = await startApi({
      maxNameLength: 1_000_000,
      ...(bodyLimit === undefined ? {} : { bodyLimit }),
    })
    const init = {
      method: 'POST',
      body,
      duplex: 'half',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    }
    return petStore.fetch(new Request('http://x/v1/pets', init as RequestInit))
  }
  const ofSize = (size: number) => `{"categoryId":1,"name":"${'x'.repeat(size - 26)}"}`

  test('accepts a body of exactly `bodyLimit` bytes, and rejects one more', async () => {
    expect(ofSize(65_536)).toHaveLength(65_536)
    expect((await post(ofSize(65_536))).status).toBe(201)
    expect((await post(ofSize(65_536), undefined, { 'content-length': '65536' })).status).toBe(201)
    const refused = await post(ofSize(65_537))
    const message = 'The body is too large: expected at most 65536 bytes.'
    expect([refused.status, await refused.json()]).toMatchObject([413, { code: 'payload_too_large', message }])
    expect((await post(ofSize(100), 99)).status).toBe(413)
  })

  test('rejects an endless body early and does not cancel its stream', async () => {
    const limit = 10_000
    const chunk = new Uint8Array(1_024)
    let pulled = 0
    let cancelled = false
    const endless = new ReadableStream({
      pull: (controller) => {
        pulled += chunk.length
        controller.enqueue(chunk)
      },
      cancel: () => {
        cancelled = true
      },
    })
    expect((await post(endless, limit)).status).toBe(413)
    // The stream is at most two chunks ahead of its reader.
    expect(pulled).toBeLessThan(limit + 3 * chunk.length)
    expect(cancelled).toBe(false)
  })

  test('how a body is split into chunks makes no difference', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(300), { maxLength: 20 }), async (cuts) => {
        const bytes = new TextEncoder().encode(ofSize(300))
        const places = [0, ...cuts.sort((a, b) => a - b), 300]
        const pieces = places.slice(1).map((place, i) => bytes.subarray(places[i], place))
        const body = new ReadableStream({
          pull: (controller) => {
            const piece = pieces.shift()
            if (piece === undefined) controller.close()
            else controller.enqueue(piece)
          },
        })
        expect((await post(body, 300)).status).toBe(201)
      }),
    )
  })

  test.each([
    ['the body then ends', true, { 'content-length': '100' }],
    ['the body never ends', false, { 'content-length': '100' }],
    ['the body has chunks and ends only then', true, { 'transfer-encoding': 'chunked' }],
  ])('adds the animal if the signal aborts after the last byte: %s', async (_how, isEnded, length) => {
    const closed = new AbortController()
    const { petStore, token } = await startApi()
    const bytes = new TextEncoder().encode(ofSize(100))
    let isSent = false
    let cancelled = false
    const source: UnderlyingDefaultSource<Uint8Array> = {
      pull: (controller) => {
        if (!isSent) controller.enqueue(bytes)
        else {
          closed.abort()
          if (isEnded) controller.close()
        }
        isSent = true
      },
      cancel: () => {
        cancelled = true
      },
    }
    // With highWaterMark 0, the stream creates a chunk only when a reader requests the next chunk.
    const body = new ReadableStream(source, { highWaterMark: 0 })
    const headers = new Headers({ authorization: `Bearer ${token}`, 'content-type': 'application/json', ...length })
    const request = { method: 'POST', url: 'http://x/v1/pets', headers, body, bodyUsed: false, signal: closed.signal }
    expect((await petStore.fetch(request as unknown as Request)).status).toBe(201)
    expect(cancelled).toBe(false)
  })

  describe('a Request that has no body stream', () => {
    const ask = async (text: string, change: (request: Request) => unknown = () => {}) => {
      const { petStore, token } = await startApi({ bodyLimit: 100 })
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const request = new Request('http://x/v1/pets', { method: 'POST', headers, body: text })
      Object.defineProperty(request, 'body', { value: undefined, configurable: true })
      change(request)
      const response = await petStore.fetch(request)
      return [response.status, ((await response.json()) as { code?: string }).code]
    }

    test('reads a Request that has no body stream', async () => {
      expect(await ask('{"name":"Rex","categoryId":1}')).toEqual([201, undefined])
      expect(await ask('')).toEqual([400, 'malformed_json'])
    })

    test('the body limit applies to a Request that has no body stream', async () => {
      expect(await ask(`"${'x'.repeat(98)}"`)).toEqual([400, 'invalid_body'])
      expect(await ask(`"${'x'.repeat(99)}"`)).toEqual([413, 'payload_too_large'])
    })

    test('a Request whose body was read gets 500', async () => {
      expect(await ask('{}', (request) => request.text())).toEqual([500, 'body_already_read'])
      const broken = () => Promise.reject(new TypeError('gone'))
      expect(await ask('{}', (request) => Object.assign(request, { arrayBuffer: broken }))).toEqual([
        400,
        'incomplete_body',
      ])
    })

    test('a body that is a Node stream and cannot be read gets 400', async () => {
      const broken = (request: Request) => {
        Object.defineProperty(request, 'body', { value: Readable.from(['{}']) })
        return Object.assign(request, { arrayBuffer: () => Promise.reject(new TypeError('gone')) })
      }
      expect(await ask('{}', broken)).toEqual([400, 'incomplete_body'])
    })

    test('a body that is a Node stream is read', async () => {
      const ofNode = (request: Request) => Object.defineProperty(request, 'body', { value: Readable.from(['{}']) })
      expect(await ask('{"name":"Rex","categoryId":1}', ofNode)).toEqual([201, undefined])
    })
  })

  test.each([[{}], [{ 'content-length': '28' }], [{ 'content-length': '30' }]])(
    'adds no animal if the client disconnects before the body ends: %j',
    async (length) => {
      const { petStore, token, storage } = await startApi()
      const leaving = new AbortController()
      const bytes = new TextEncoder().encode('{"name":"Rex","categoryId":1}')
      let isSent = false
      const pull = (controller: ReadableStreamDefaultController) => {
        if (isSent) leaving.abort()
        else controller.enqueue(bytes)
        isSent = true
      }
      const body = new ReadableStream({ pull }, { highWaterMark: 0 })
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...length }
      const init = { method: 'POST', body, duplex: 'half', signal: leaving.signal, headers }
      const response = await petStore.fetch(new Request('http://x/v1/pets', init as RequestInit))
      expect([response.status, await response.json()]).toMatchObject([400, { code: 'incomplete_body' }])
      expect(await storage.list({ limit: 1 })).toEqual([])
    },
  )

  test('accepts the largest possible bodyLimit', async () => {
    expect((await post(ofSize(100), Number.MAX_SAFE_INTEGER)).status).toBe(201)
  })
})

test.each([
  ['null', 'null'],
  ['true', 'true'],
  ['[1]', 'an array'],
  ['{"a":1}', 'an object'],
  ['1.5', 'the number 1.5'],
  ['"x"', 'the string "x"'],
])('the message describes the received value %s', async (json, came) => {
  const { add } = await startApi()
  expect((await add(`{"name":"Rex","categoryId":1,"status":${json}}`)).message).toContain(`, got ${came}.`)
})

test.each(['[]', '{}'])('accepts an array that contains %s many times', async (one) => {
  const { add } = await startApi()
  const { status } = await add(`{"name":"Rex","categoryId":1,"x":[${Array(300).fill(one).join()}]}`)
  expect(status).toBe(201)
})

test.each([
  `{"${'x'.repeat(60_000)}":1,"${'x'.repeat(60_000)}":2}`,
  `{"name":"Rex","categoryId":${'9'.repeat(60_000)}.}`,
])('the message about long malformed JSON is short: %.5s', async (json) => {
  const { add } = await startApi()
  const { code, message } = await add(json)
  expect([code, message.length < 300]).toEqual(['malformed_json', true])
})

test.each(['9'.repeat(60_000), `"${'x'.repeat(60_000)}"`])(
  'the message about a long value is short: %.5s',
  async (json) => {
    const { add } = await startApi()
    const { code, message } = await add(`{"name":"Rex","categoryId":${json}}`)
    expect([code, message.length < 200]).toEqual(['invalid_body', true])
  },
)
