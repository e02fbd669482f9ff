import { getEventListeners } from 'node:events'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { createClient, type PetStoreClient } from '../../../src/client/client.ts'
import { createPetStoreClient, type PetStoreClientOptions, type RetryOptions } from '../../../src/client/index.ts'
import type { ClientSeams } from '../../../src/client/options.ts'
import { createPetStore, memory, type PetStoreError } from '../../../src/index.ts'
import { manualClock } from '../../../src/testing/index.ts'

const API_KEY = 'pet_abc'
const BASE_URL = 'https://api.example/v1'
const REX = { name: 'Rex', categoryId: 1n }
const PET = '{"id":9007199254740993,"name":"Rex","categoryId":1,"status":"available"}'

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

/** The arguments of one `fetch` call. */
interface SentRequest {
  readonly url: string
  readonly init: RequestInit
}

/** Creates a client. Each call of its `fetch` returns the next given response, or throws the next given error. */
function clientOf(
  outcomes: readonly (Response | Error)[],
  retry: RetryOptions | false = {},
  seams: ClientSeams = {},
  others: Partial<PetStoreClientOptions> = {},
) {
  const sent: SentRequest[] = []
  const waits: number[] = []
  const left = [...outcomes]
  const fetch = async (url: string, init: RequestInit) => {
    sent.push({ url, init })
    const outcome = left.shift()
    if (outcome instanceof Response) return outcome
    throw outcome ?? new Error('the test has no further response')
  }
  const clock = manualClock(Date.UTC(2030, 0, 1))
  const sleep = async (milliseconds: number) => {
    waits.push(milliseconds)
    clock.advance(milliseconds)
  }
  const options = { baseUrl: BASE_URL, apiKey: API_KEY, fetch, retry, ...others }
  const client = createClient(options, { sleep, random: () => 1, clock, ...seams })
  return { client, sent, waits }
}

const json = (body: string, status = 200, headers: Record<string, string> = {}) =>
  new Response(body, { status, headers: { 'content-type': 'application/json', ...headers } })
const errorBody = (code: string, status: number) => JSON.stringify({ code, message: `It was ${code}.`, status })
const refusal = (seconds: number, code = 'rate_limit_exceeded') =>
  json(errorBody(code, 429), 429, { 'retry-after': String(seconds) })
const unavailable = (headers: Record<string, string> = {}) => json(errorBody('service_unavailable', 503), 503, headers)
const fault = () => new TypeError('fetch failed')

function limited(remaining: number, resetsAt = Date.UTC(2030, 0, 2)) {
  const headers = { limit: '60', remaining: String(remaining), reset: String(resetsAt / 1_000) }
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [`x-ratelimit-${name}`, value]))
}

describe('a client of a pet store in the same process', () => {
  async function start(publicUrl?: string) {
    const backEnd = memory()
    const { token } = await backEnd.keyStore.issue({ plan: 'business' })
    const petStore = createPetStore({ ...backEnd, publicUrl })
    const client = createPetStoreClient({ baseUrl: BASE_URL, apiKey: token, fetch: petStore.fetch })
    return { ...backEnd, client }
  }

  test('keeps all digits of id and categoryId', async () => {
    const { client } = await start()
    const pet = await client.createPet({ name: 'Zoë "🐕"', categoryId: 9223372036854775807n, status: 'pending' })
    expect(pet).toEqual({ id: 1n, name: 'Zoë "🐕"', categoryId: 9223372036854775807n, status: 'pending' })
    expect(await client.getPet(pet.id)).toEqual(pet)
    expect(await client.listPets()).toEqual({ pets: [pet], next: undefined })
  })

  test('iterates over all pages of one status', async () => {
    const { client, storage } = await start('https://shop.example/pets/v1')
    for (let i = 0; i < 250; i++)
      await storage.create({ name: 'Rex', categoryId: 1n, status: i % 2 ? 'sold' : 'available' }, {})
    const ids: bigint[] = []
    for await (const { id } of client.pets({ status: 'available', pageSize: 10 })) ids.push(id)
    expect(ids).toEqual(Array.from({ length: 125 }, (_, i) => BigInt(2 * i + 1)))
  })

  test('rejects an invalid animal with the message of the server', async () => {
    const { client } = await start()
    await expect(client.createPet({ name: 'Rex' } as never)).rejects.toMatchObject({
      code: 'invalid_body',
      message: expect.stringContaining('categoryId'),
    })
  })

  test('sends idempotency keys that the server reads, whatever characters they have', async () => {
    const { client } = await start()
    for (const idempotencyKey of ['a', ' a b ', '"', '\\', '\\"', 'x'.repeat(255), '"'.repeat(255)]) {
      const first = await client.createPet(REX, { idempotencyKey })
      expect(await client.createPet(REX, { idempotencyKey })).toEqual(first)
    }
    await expect(client.createPet({ ...REX, name: 'Ada' }, { idempotencyKey: 'a' })).rejects.toMatchObject({
      code: 'idempotency_key_reused',
      status: 422,
    })
  })
})

describe('requests', () => {
  test('have the API key, and the parameters in the query', async () => {
    const { client, sent } = clientOf([json('[]')])
    await client.listPets({ cursor: 'a+b&c', limit: 7, status: 'sold' })
    expect(sent[0]?.url).toBe('https://api.example/v1/pets?limit=7&status=sold&cursor=a%2Bb%26c')
    expect(sent[0]?.init.headers).toMatchObject({ Authorization: `Bearer ${API_KEY}` })
  })

  test('of pets() ask for 100 animals', async () => {
    const { client, sent } = clientOf([json('[]')])
    for await (const _ of client.pets()) expect.unreachable()
    expect(sent[0]?.url).toBe('https://api.example/v1/pets?limit=100')
  })

  test('escape the id in the path', async () => {
    const { client, sent } = clientOf([json(PET)])
    await client.getPet('../keys?' as never)
    expect(sent[0]?.url).toBe('https://api.example/v1/pets/..%2Fkeys%3F')
  })

  test.each([2 ** 53, -(2 ** 63), 7.5, Number.NaN])(
    'are not sent with the number %f, which may be rounded',
    async (n) => {
      const { client, sent } = clientOf([])
      const wrong = (name: string) => ({
        code: 'invalid_option',
        message: `option ${name}: expected a bigint such as 7n, because JavaScript rounds numbers above 2^53, got the number ${n}`,
      })
      await expect(client.createPet({ name: 'Rex', categoryId: n as never })).rejects.toMatchObject(wrong('categoryId'))
      await expect(client.getPet(n as never)).rejects.toMatchObject(wrong('id'))
      expect(sent).toEqual([])
    },
  )

  test.each<[string, (client: PetStoreClient) => Promise<unknown>]>([
    [
      'option staus: expected one of the options limit, status, cursor, signal; did you mean status?',
      (client) => client.listPets({ staus: 'sold' } as never),
    ],
    [
      'option pagesize: expected one of the options status, signal, pageSize; did you mean pageSize?',
      (client) => client.pets({ pagesize: 5 } as never).next(),
    ],
    [
      'option idempotencykey: expected one of the options idempotencyKey, signal; did you mean idempotencyKey?',
      (client) => client.createPet(REX, { idempotencykey: 'a' } as never),
    ],
    ['option limit: expected one of the options signal', (client) => client.getPet(1n, { limit: 1 } as never)],
  ])('are not sent with an unknown option: %s', async (message, call) => {
    const { client, sent } = clientOf([])
    await expect(call(client)).rejects.toMatchObject({ code: 'invalid_option', message })
    expect(sent).toEqual([])
  })

  test('need a fetch function', async () => {
    vi.stubGlobal('fetch', undefined)
    const client = createPetStoreClient({ baseUrl: BASE_URL, apiKey: API_KEY })
    await expect(client.listPets()).rejects.toThrow('no global fetch')
  })
})

describe('a runtime without parts of the web platform', () => {
  test('may lack URLSearchParams.prototype.size, as Safari 16', async () => {
    vi.stubGlobal(
      'URLSearchParams',
      class extends URLSearchParams {
        override get size() {
          return undefined as never
        }
      },
    )
    const { client, sent } = clientOf([json('[]')])
    await client.listPets({ status: 'sold' })
    expect(sent[0]?.url).toBe('https://api.example/v1/pets?status=sold')
  })

  test.each([undefined, {}])('has a new idempotency key for each call, if crypto is %o', async (crypto) => {
    vi.stubGlobal('crypto', crypto)
    const { client, sent } = clientOf([fault(), json(PET, 201), json(PET, 201)])
    for (let i = 0; i < 2; i++) await client.createPet(REX)
    const [first, second, third] = keysOf(sent)
    expect(first).toMatch(/^"1893456000000-0\.\d+-0\.\d+"$/)
    expect(second).toBe(first)
    expect(third).not.toBe(first)
  })

  test('may be React Native', async () => {
    for (const name of ['URLSearchParams', 'crypto', 'TextDecoder', 'TextEncoder', 'DOMException', 'Request'])
      vi.stubGlobal(name, undefined)
    const plain = (body: string, status = 200, headers = {}) =>
      ({ ok: status < 300, status, headers: new Headers(headers), text: async () => body }) as Response
    const responses = [
      plain(`[${PET}]`, 200, { link: '</v1/pets?cursor=a>; rel="next"' }),
      plain('[]'),
      plain(PET, 201),
      plain(errorBody('pet_not_found', 404), 404),
      plain('<h1>\ud800', 500),
    ]
    const sent: SentRequest[] = []
    const fetch = async (url: string, init: RequestInit) => {
      sent.push({ url, init })
      return responses.shift() as Response
    }
    const client = createPetStoreClient({ baseUrl: BASE_URL, apiKey: API_KEY, fetch, timeout: 50 })
    const ids: bigint[] = []
    for await (const { id } of client.pets({ status: 'sold' })) ids.push(id)
    expect(ids).toEqual([9007199254740993n])
    expect(sent[1]?.url).toBe('https://api.example/v1/pets?limit=100&status=sold&cursor=a')
    expect((await client.createPet(REX)).id).toBe(9007199254740993n)
    await expect(client.getPet(1n)).rejects.toMatchObject({ code: 'pet_not_found' })
    await expect(client.getPet(1n)).rejects.toMatchObject({ code: 'unexpected_response' })
  })

  test('may have signals without a reason', async () => {
    vi.stubGlobal('DOMException', undefined)
    const controller = new AbortController()
    Object.defineProperty(controller.signal, 'reason', { value: undefined })
    const fetch = () => new Promise<Response>(() => {})
    const client = createPetStoreClient({ baseUrl: BASE_URL, apiKey: API_KEY, fetch })
    const listed = client.listPets({ signal: controller.signal })
    controller.abort()
    await expect(listed).rejects.toMatchObject({ name: 'AbortError' })
  })
})

describe('a copy of a client', () => {
  test('has all members, and its rate limit follows the responses', async () => {
    const { client } = clientOf([json('[]', 200, limited(59)), json('[]', 200, limited(58))])
    const copy = { ...client }
    await copy.listPets()
    expect(copy.rateLimit).toEqual({ limit: 60, remaining: 59, resetsAt: Date.UTC(2030, 0, 2) })
    for await (const _ of copy.pets()) expect.unreachable()
    expect(copy.rateLimit.remaining).toBe(58)
  })
})

describe('rateLimit', () => {
  test('is empty before the first response, and stays after one without a limit', async () => {
    const { client } = clientOf([json('[]', 200, limited(59)), json('[]')])
    expect(client.rateLimit).toEqual({})
    for (let i = 0; i < 2; i++) await client.listPets()
    expect(client.rateLimit.remaining).toBe(59)
  })

  test('is that of the fewest remaining requests of a window, whichever response arrives last', async () => {
    const window = Date.UTC(2030, 0, 1, 0, 5)
    const remaining = [58, 59].map((count) => json('[]', 200, limited(count, window)))
    const { client } = clientOf([...remaining, json('[]', 200, limited(60, window + 60_000))])
    for (let i = 0; i < 2; i++) await client.listPets()
    expect(client.rateLimit.remaining).toBe(58)
    await client.listPets()
    expect(client.rateLimit.remaining).toBe(60)
  })

  test('is that of an error response too', async () => {
    const { client } = clientOf([json(errorBody('pet_not_found', 404), 404, limited(7))])
    await client.getPet(1n).catch(() => {})
    expect(client.rateLimit.remaining).toBe(7)
  })
})

describe('pets()', () => {
  const page = (cursor: string) => json(`[${PET}]`, 200, { 'x-next-cursor': cursor })

  test('rejects if the server repeats a cursor', async () => {
    const { client, sent } = clientOf(['a', 'b', 'a'].map(page))
    const received: bigint[] = []
    const iterate = async () => {
      for await (const { id } of client.pets()) received.push(id)
    }
    await expect(iterate()).rejects.toMatchObject({
      code: 'unexpected_response',
      message: 'expected a new cursor with each page, got the cursor the string "a" again',
    })
    expect([received.length, sent.length]).toEqual([3, 3])
  })

  test('requests no further page after a break', async () => {
    const { client, sent } = clientOf([page('a')])
    for await (const _ of client.pets()) break
    expect(sent.length).toBe(1)
  })
})

describe('an error', () => {
  const errorOf = async (response: Response | Error): Promise<PetStoreError> =>
    clientOf([response], false)
      .client.listPets()
      .then(
        () => expect.unreachable(),
        (error) => error,
      )

  test('has code, status and message of the response', async () => {
    expect(await errorOf(json(errorBody('invalid_api_key', 401), 401))).toMatchObject({
      name: 'PetStoreError',
      code: 'invalid_api_key',
      status: 401,
      message: 'It was invalid_api_key.',
    })
  })

  test.each([
    [429, 'rate_limit_exceeded'],
    [502, 'service_unavailable'],
    [503, 'service_unavailable'],
    [504, 'service_unavailable'],
    [500, 'unexpected_response'],
    [403, 'unexpected_response'],
  ])('of a proxy with status %i has the code %s, and quotes the page', async (status, code) => {
    const error = await errorOf(new Response(`<h1>${'x'.repeat(500)}</h1>`, { status }))
    expect(error).toMatchObject({ code, status })
    expect(error.message).toContain('<h1>xxx')
    expect(error.message.length).toBeLessThanOrEqual(300)
  })

  test('with an unknown code is unexpected_response, and keeps the message', async () => {
    const error = await errorOf(json('{"code":"teapot","message":"I am a teapot.","status":418}', 418))
    expect(error).toMatchObject({ code: 'unexpected_response', status: 418 })
    expect(error.message).toContain('I am a teapot.')
  })

  test('has the code of a key store that refuses the key', async () => {
    const error = await errorOf(json('{"code":"account_suspended","message":"Pay first.","status":403}', 403))
    expect(error).toMatchObject({ code: 'account_suspended', status: 403, message: 'Pay first.' })
  })

  test('with a message that is no text has the message of its code', async () => {
    const error = await errorOf(json('{"code":"pet_not_found","message":{},"status":404}', 404))
    expect(error.message).toBe('The animal could not be found.')
  })

  test.each([
    ['the message of the response', { code: 'invalid_body', message: '\u001b[2Jx\u009b\u202e' }],
    ['the body of the response', { message: 'x\u009b\u202e' }],
  ])('escapes invisible characters in %s', async (_, body) => {
    const { message } = await errorOf(json(JSON.stringify(body), 400))
    expect(message).toContain('x\\u009b\\u202e')
    expect(message).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u)
  })

  test('masks the API key that a server or a network error repeats', async () => {
    for (const outcome of [new Response(`Bearer ${API_KEY}`, { status: 500 }), new TypeError(`no ${API_KEY}`)]) {
      const { message } = await errorOf(outcome)
      expect(message).toContain('***')
      expect(message).not.toContain(API_KEY)
    }
  })

  test('of the network has the innermost reason, and the error of fetch as its cause', async () => {
    const cause = new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED 127.0.0.1:1') })
    const message = 'GET https://api.example/v1/pets: no response arrived: connect ECONNREFUSED 127.0.0.1:1.'
    expect(await errorOf(cause)).toMatchObject({ code: 'network_error', status: 0, cause, message })
  })
})

describe('a hostile server', () => {
  test.each([
    '<html>',
    '{}',
    '[{"id":"1"}]',
    '[{"id":1,"name":"Rex","categoryId":1,"status":"lost"}]',
    'null',
    '',
    '\u0000',
  ])('cannot make listPets return the body %j', async (body) => {
    const { client } = clientOf([json(body)])
    await expect(client.listPets()).rejects.toMatchObject({ code: 'unexpected_response', status: 200 })
  })

  test('cannot make createPet return an animal without an id', async () => {
    const { client } = clientOf([json('{"name":"Rex","categoryId":1}', 201)])
    await expect(client.createPet(REX)).rejects.toMatchObject({ code: 'unexpected_response' })
  })

  test('cannot make the client read a body without end', async () => {
    let bytes = 0
    const pull = (stream: ReadableStreamDefaultController) => {
      bytes += 1_000_000
      stream.enqueue(new Uint8Array(1_000_000))
    }
    const { client } = clientOf([new Response(new ReadableStream({ pull }))])
    await expect(client.listPets()).rejects.toMatchObject({ code: 'unexpected_response', status: 200 })
    expect(bytes).toBeLessThan(10_000_000)
  })

  test('cannot overflow the stack with nested JSON', async () => {
    const { client } = clientOf([json('['.repeat(100_000))])
    await expect(client.listPets()).rejects.toMatchObject({ code: 'unexpected_response' })
  })

  test.each(['9'.repeat(400), 'Fri, 31 Dec 9999 23:59:59 GMT'])(
    'cannot break the message with Retry-After %s',
    async (value) => {
      const { client } = clientOf([json('', 429, { 'retry-after': value })])
      await expect(client.listPets()).rejects.toThrow(/The server asked to wait until \d{4}-/)
    },
  )
})

describe('a request that gets 429', () => {
  test('is sent again after Retry-After and a random time that grows with each failure', async () => {
    const refusals = Array.from({ length: 7 }, () => refusal(2))
    const { client, waits } = clientOf([...refusals, json('[]')], {}, { random: () => 0.5 })
    expect((await client.listPets()).pets).toEqual([])
    expect(waits).toEqual([2_250, 2_500, 3_000, 4_000, 6_000, 7_000, 7_000])
  })

  test('rejects immediately during a ban of 300 seconds', async () => {
    const { client, sent, waits } = clientOf([refusal(300, 'api_key_banned')])
    await expect(client.listPets()).rejects.toMatchObject({
      code: 'api_key_banned',
      status: 429,
      retryAfterSeconds: 300,
    })
    expect([sent.length, waits]).toEqual([1, []])
  })

  test('waits until a ban ends, if that is within maxElapsed', async () => {
    const { client, waits } = clientOf([refusal(300, 'api_key_banned'), json('[]')], { maxElapsed: 300_000 })
    await client.listPets()
    expect(waits).toEqual([300_000])
  })

  test('rejects after maxRetries', async () => {
    const { client, sent } = clientOf([refusal(1), refusal(2), refusal(3), refusal(4)], { maxRetries: 3 })
    await expect(client.listPets()).rejects.toMatchObject({ code: 'rate_limit_exceeded', retryAfterSeconds: 4 })
    expect(sent.length).toBe(4)
  })

  test('compares a date in Retry-After with the Date of the response', async () => {
    const headers = { 'retry-after': 'Sat, 05 Jan 2030 00:00:09 GMT', date: 'Sat, 05 Jan 2030 00:00:00 GMT' }
    const { client, waits } = clientOf([json('', 429, headers), json('[]')], {}, { random: () => 0 })
    await client.listPets()
    expect(waits).toEqual([9_000])
  })
})

describe('a failed request', () => {
  test('is sent again after exponential delays with jitter', async () => {
    const factors = [1, 0.5, 0.25]
    const random = () => factors.shift() ?? Number.NaN
    const { client, waits } = clientOf([fault(), unavailable(), fault(), json('[]')], {}, { random })
    await client.listPets()
    expect(waits).toEqual([500, 500, 500])
  })

  test('is sent again after at most ten seconds', async () => {
    const { client, waits } = clientOf([...Array.from({ length: 7 }, fault), json('[]')])
    await client.listPets()
    expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000])
  })

  test('waits after a 503 as long as Retry-After says', async () => {
    const { client, waits } = clientOf([unavailable({ 'retry-after': '5' }), json('[]')], {}, { random: () => 0 })
    await client.listPets()
    expect(waits).toEqual([5_000])
  })

  test.each([400, 401, 404, 408, 500, 501])('is not sent again after status %i', async (status) => {
    const { client, sent } = clientOf([new Response('', { status })])
    await expect(client.listPets()).rejects.toMatchObject({ status })
    expect(sent.length).toBe(1)
  })

  test('is not sent again with retry: false', async () => {
    const { client, sent } = clientOf([refusal(0)], false)
    await expect(client.listPets()).rejects.toMatchObject({ status: 429 })
    expect(sent.length).toBe(1)
  })
})

function keysOf(sent: readonly SentRequest[]) {
  return sent.map(({ init }) => (init.headers as Record<string, string>)['Idempotency-Key'])
}

describe('the idempotency key of createPet', () => {
  const UUID = /^"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"$/

  test.each([
    ['a network fault', fault],
    ['a body that breaks off', () => new Response(new ReadableStream({ start: (stream) => stream.error(fault()) }))],
    ['a 409, as of a server that handles the first request', () => new Response('', { status: 409 })],
    ['a 502 of a proxy', () => new Response('', { status: 502 })],
    ['a 503', unavailable],
    ['a 504 of a proxy', () => new Response('', { status: 504 })],
  ])('is sent again with the same animal after %s', async (_, outcome) => {
    const { client, sent } = clientOf([outcome(), outcome(), json(PET, 201)])
    await client.createPet(REX)
    const [first, ...others] = keysOf(sent)
    expect(first).toMatch(UUID)
    expect(others).toEqual([first, first])
    expect(new Set(sent.map(({ init }) => init.body)).size).toBe(1)
  })

  test('is new for each call', async () => {
    const { client, sent } = clientOf([json(PET, 201), json(PET, 201)])
    for (let i = 0; i < 2; i++) await client.createPet(REX)
    expect(new Set(keysOf(sent)).size).toBe(2)
  })

  test.each(['', 'x'.repeat(256), 'é', '\n', 7])('cannot be %j', async (key) => {
    const { client, sent } = clientOf([])
    await expect(client.createPet(REX, { idempotencyKey: key as never })).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringMatching(/^option idempotencyKey: expected 1 to 255 visible ASCII characters/),
    })
    expect(sent).toEqual([])
  })

  test.each([fault(), new Response('', { status: 409 })])(
    'is not sent if it is null, and then nothing is after %o',
    async (outcome) => {
      const { client, sent } = clientOf([outcome, json(PET, 201)])
      const error = await client.createPet(REX, { idempotencyKey: null }).then(
        () => expect.unreachable(),
        (error) => error,
      )
      expect(error).not.toHaveProperty('idempotencyKey')
      expect(keysOf(sent)).toEqual([undefined])
    },
  )

  test('may be null after a 429, because nothing was added', async () => {
    const { client, sent } = clientOf([refusal(1), json(PET, 201)])
    await client.createPet(REX, { idempotencyKey: null })
    expect(sent.length).toBe(2)
  })

  test('is in the error of the call', async () => {
    const { client, sent } = clientOf([unavailable(), json('<html>', 201)], { maxRetries: 0 })
    for (let i = 0; i < 2; i++) {
      const error = (await client.createPet(REX).catch((error: unknown) => error)) as PetStoreError
      expect(`"${error.idempotencyKey}"`).toBe(keysOf(sent)[i])
    }
  })
})

describe('a redirect', () => {
  test('is not followed, and the error names its target without credentials', async () => {
    const headers = { location: "https://user:se'cr et@other.example/v1/pets?token=secret" }
    const { client, sent } = clientOf([new Response(null, { status: 307, headers })])
    const call = client.createPet(REX)
    await expect(call).rejects.toMatchObject({ code: 'unexpected_response', status: 307 })
    await expect(call).rejects.toThrow('got a redirect to "https://other.example/v1/pets"')
    expect(sent.map(({ init }) => init.redirect)).toEqual(['manual'])
  })

  test.each([
    ['of a browser, which hides it', { type: 'opaqueredirect', status: 0 }, 'an unknown URL'],
    ['that fetch has followed', { redirected: true, url: 'https://other.example/v1' }, 'https://other.example/v1'],
  ])('%s is rejected', async (_, members, target) => {
    const response = json('[]')
    for (const [name, value] of Object.entries(members)) Object.defineProperty(response, name, { value })
    await expect(clientOf([response]).client.listPets()).rejects.toThrow(`got a redirect to "${target}"`)
  })
})

describe('onRetry', () => {
  test('gets each failed attempt with the wait after it', async () => {
    const onRetry = vi.fn()
    const { client } = clientOf([refusal(7), unavailable(), json('[]')], {}, {}, { onRetry })
    await client.listPets()
    expect(onRetry.mock.calls).toEqual([
      [expect.objectContaining({ code: 'rate_limit_exceeded', status: 429 }), { attempt: 1, delay: 7_500 }],
      [expect.objectContaining({ code: 'service_unavailable', status: 503 }), { attempt: 2, delay: 1_000 }],
    ])
  })

  test.each([
    [
      'throws',
      () => {
        throw new Error('no more')
      },
    ],
    ['returns a rejected promise', () => Promise.reject(new Error('no more'))],
  ])('rejects the call if it %s', async (_, onRetry) => {
    const { client, sent } = clientOf([refusal(7)], {}, {}, { onRetry })
    await expect(client.listPets()).rejects.toThrow('no more')
    expect(sent.length).toBe(1)
  })
})

describe('a signal', () => {
  test('that is already aborted prevents the request', async () => {
    const { client, sent } = clientOf([json('[]')])
    await expect(client.listPets({ signal: AbortSignal.abort('stop') })).rejects.toBe('stop')
    expect(sent.length).toBe(0)
  })

  test('aborts the signal of fetch, and the call is not sent again', async () => {
    const controller = new AbortController()
    const fetch = vi.fn(async (_: string, { signal }: RequestInit) => {
      controller.abort('enough')
      throw signal?.reason
    })
    const client = createPetStoreClient({ baseUrl: BASE_URL, apiKey: API_KEY, fetch })
    await expect(client.getPet(1n, { signal: controller.signal })).rejects.toBe('enough')
    expect(fetch).toHaveBeenCalledTimes(1)
  })

  test('ends an iteration between two pages', async () => {
    const { client, sent } = clientOf([json(`[${PET}]`, 200, { 'x-next-cursor': 'a' })])
    const controller = new AbortController()
    const iterate = async () => {
      for await (const _ of client.pets({ signal: controller.signal })) controller.abort('enough')
    }
    await expect(iterate()).rejects.toBe('enough')
    expect(sent.length).toBe(1)
  })
})

describe('the timeout', () => {
  /** Creates a client whose `fetch` hangs after the given responses, and ignores its signal. */
  function hangingClient(options: Partial<PetStoreClientOptions>, responses: readonly Response[] = []) {
    vi.useFakeTimers()
    const left = [...responses]
    const fetch = vi.fn(async () => left.shift() ?? new Promise<Response>(() => {}))
    return { fetch, client: createPetStoreClient({ baseUrl: BASE_URL, apiKey: API_KEY, fetch, ...options }) }
  }

  test('rejects a call without a response after 30 seconds, and leaves no timer and no listener', async () => {
    const { client } = hangingClient({ retry: false })
    const { signal } = new AbortController()
    const rejected = expect(client.createPet(REX, { signal })).rejects.toMatchObject({
      code: 'network_error',
      cause: { name: 'TimeoutError' },
    })
    await vi.advanceTimersByTimeAsync(30_000)
    await rejected
    expect(vi.getTimerCount()).toBe(0)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  test('ends an attempt whose body does not end, and the request is sent again', async () => {
    const { client, fetch } = hangingClient({ timeout: 200 }, [new Response(new ReadableStream()), json('[]')])
    const listed = client.listPets()
    await vi.advanceTimersByTimeAsync(701)
    expect((await listed).pets).toEqual([])
    expect(fetch).toHaveBeenCalledTimes(2)
  })

  test('is not needed for a signal to reject a call whose fetch ignores it', async () => {
    const { client } = hangingClient({})
    const controller = new AbortController()
    const rejected = expect(client.listPets({ signal: controller.signal })).rejects.toBe('enough')
    await vi.advanceTimersByTimeAsync(1)
    controller.abort('enough')
    await rejected
    expect(vi.getTimerCount()).toBe(0)
  })
})
