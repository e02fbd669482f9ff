import { getEventListeners } from 'node:events'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { createClient } from '../../../src/client/client.ts'
import {
  createPetStoreClient,
  type PetStoreClientOptions,
  type RetryOptions,
  type UpcomingRetry,
} from '../../../src/client/index.ts'
import type { ClientSeams } from '../../../src/client/options.ts'
import { createPetStore, memory, type PetStoreError } from '../../../src/index.ts'
import { manualClock } from '../../../src/testing/index.ts'
import { until } from '../../support/until.ts'

const API_KEY = 'pet_abc'
const PET = '{"id":9007199254740993,"name":"Rex","categoryId":1,"status":"available"}'

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
  const options = { baseUrl: 'https://api.example/v1', apiKey: API_KEY, fetch, retry, ...others }
  const client = createClient(options, { sleep, random: () => 1, clock, ...seams })
  return { client, sent, waits }
}

const json = (body: string, status = 200, headers: Record<string, string> = {}) =>
  new Response(body, { status, headers: { 'content-type': 'application/json', ...headers } })
const errorBody = (code: string, status: number) => JSON.stringify({ code, message: `It was ${code}.`, status })
const refusal = (seconds: number, code = 'rate_limit_exceeded') =>
  json(errorBody(code, 429), 429, { 'retry-after': String(seconds) })
const unavailable = (headers: Record<string, string> = {}) => json(errorBody('service_unavailable', 503), 503, headers)

describe('a client of a pet store', () => {
  async function start(publicUrl?: string) {
    const backEnd = memory()
    const { token } = await backEnd.keyStore.issue({ plan: 'business' })
    const petStore = createPetStore({ ...backEnd, publicUrl })
    const client = createPetStoreClient({ baseUrl: 'https://api.example/v1/', apiKey: token, fetch: petStore.fetch })
    return { ...backEnd, client }
  }

  test('the client keeps all digits of id and categoryId', async () => {
    const { client } = await start()
    const pet = await client.createPet({ name: 'Zoë "🐕"', categoryId: 9223372036854775807n, status: 'pending' })
    expect(pet).toEqual({ id: 1n, name: 'Zoë "🐕"', categoryId: 9223372036854775807n, status: 'pending' })
    expect(await client.getPet(pet.id)).toEqual(pet)
    expect(await client.listPets()).toEqual({ pets: [pet], next: undefined })
  })

  test('pets() iterates over all pages', async () => {
    const { client, storage } = await start('https://shop.example/pets/v1')
    for (let i = 0; i < 250; i++)
      await storage.create({ name: 'Rex', categoryId: 1n, status: i % 2 ? 'sold' : 'available' })
    const ids: bigint[] = []
    for await (const { id } of client.pets({ status: 'available', pageSize: 10 })) ids.push(id)
    expect(ids).toEqual(Array.from({ length: 125 }, (_, i) => BigInt(2 * i + 1)))
  })

  test("createPet rejects an invalid animal with the server's message", async () => {
    const { client } = await start()
    await expect(client.createPet({ name: 'Rex' } as never)).rejects.toMatchObject({
      code: 'invalid_body',
      message: expect.stringContaining('categoryId'),
    })
  })
})

describe('a number instead of a bigint', () => {
  test.each([2 ** 53, -(2 ** 63), 7.5, Number.NaN])(
    'a number that is not a safe integer is rejected: %f',
    async (number) => {
      const { client, sent } = clientOf([])
      const wrong = (name: string) => ({
        code: 'invalid_option',
        message: `option ${name}: expected a bigint such as 7n, because JavaScript rounds numbers above 2^53, got the number ${number}`,
      })
      await expect(client.createPet({ name: 'Rex', categoryId: number as never })).rejects.toMatchObject(
        wrong('categoryId'),
      )
      await expect(client.getPet(number as never)).rejects.toMatchObject(wrong('id'))
      expect(sent.length).toBe(0)
    },
  )
})

describe('pages', () => {
  const page = (headers: Record<string, string>) => json(`[${PET}]`, 200, headers)

  test('pages are requested with the key and limit=100', async () => {
    const { client, sent } = clientOf([json('[]')])
    for await (const _ of client.pets()) expect.unreachable()
    expect(sent[0]?.url).toBe('https://api.example/v1/pets?limit=100')
    expect(sent[0]?.init.headers).toMatchObject({ Authorization: `Bearer ${API_KEY}` })
  })

  test.each([
    ['</v1/pets?limit=1&cursor=a%2Bb>; rel="next"'],
    ['<?cursor=a%2Bb>; rel=next'],
    ['<https://other.example/x?cursor=a%2Bb>; title="x, y"; rel="last next"'],
    ['</first>; rel="first", </v1/pets?cursor=a%2Bb>; rel="next"'],
  ])('the client reads the cursor from the Link header %s', async (link) => {
    const { client, sent } = clientOf([page({ link }), page({})])
    const { next } = await client.listPets()
    expect(next).toBe('a+b')
    await client.listPets({ cursor: next })
    expect(sent[1]?.url).toBe('https://api.example/v1/pets?cursor=a%2Bb')
  })

  test('the client prefers X-Next-Cursor to Link', async () => {
    const { client } = clientOf([page({ 'x-next-cursor': 'c', link: '</v1/pets?cursor=d>; rel="next"' })])
    expect((await client.listPets()).next).toBe('c')
  })

  test.each(['</v1/pets>; rel="successor-version"', '</v1/pets?cursor=a>; rel="next-archive"', 'nonsense'])(
    'listPets finds no next page in the Link header %s',
    async (link) => {
      const { client } = clientOf([page({ link })])
      expect((await client.listPets()).next).toBeUndefined()
    },
  )

  test.each(['<', '<>;', '<a>;a="', '<a>;rel=" ', '<a>;a="\\"', '<a>;rel=x;'])(
    'rejects a Link header of over 16 kB that has no next page: %s',
    async (part) => {
      const { client } = clientOf([page({ link: part.repeat(64_000 / part.length) })])
      await expect(client.listPets()).rejects.toMatchObject({
        code: 'unexpected_response',
        message: expect.stringContaining('16384'),
      })
    },
  )

  test('pets() rejects if the server repeats a cursor', async () => {
    const { client, sent } = clientOf(['a', 'b', 'a'].map((cursor) => page({ 'x-next-cursor': cursor })))
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

  test('listPets rejects if the link to the next page has no cursor', async () => {
    const { client } = clientOf([page({ link: '</v1/pets?page=2>; rel="next"' })])
    await expect(client.listPets()).rejects.toMatchObject({ code: 'unexpected_response', status: 200 })
  })
})

describe('errors', () => {
  test('errors contain code, status and message of the response', async () => {
    const { client } = clientOf([json(errorBody('invalid_api_key', 401), 401)])
    await expect(client.listPets()).rejects.toMatchObject({
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
  ])('a proxy error with status %i gets the code %s', async (status, code) => {
    const { client } = clientOf([new Response(`<h1>${'x'.repeat(500)}</h1>`, { status })], false)
    const error = await client.listPets().catch((error: Error) => error)
    expect(error).toMatchObject({ code, status })
    expect((error as Error).message.length).toBeLessThanOrEqual(300)
    expect((error as Error).message.match(/x+/)?.[0].length).toBeLessThanOrEqual(200)
  })

  test.each([
    ['the message of the response', { code: 'invalid_body', message: '\u001b[2Jx\u009b\u202e' }],
    ['the body of the response', { message: 'x\u009b\u202e' }],
  ])('the client escapes invisible characters in %s', async (_, body) => {
    const { client } = clientOf([json(JSON.stringify(body), 400)])
    const error = (await client.listPets().catch((error: Error) => error)) as Error
    expect(error.message).toContain('x\\u009b\\u202e')
    expect(error.message).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u)
  })

  test('an unknown error code becomes unexpected_response, and the message is kept', async () => {
    const { client } = clientOf([json('{"code":"teapot","message":"I am a teapot.","status":418}', 418)])
    await expect(client.listPets()).rejects.toMatchObject({
      code: 'unexpected_response',
      status: 418,
      message: expect.stringContaining('I am a teapot.'),
    })
  })

  test.each(['<html>', '{}', '[{"id":"1"}]', 'null'])('listPets rejects the response body %s', async (body) => {
    const { client } = clientOf([json(body)])
    await expect(client.listPets()).rejects.toMatchObject({ code: 'unexpected_response', status: 200 })
  })

  test('createPet rejects a response without an id', async () => {
    const { client } = clientOf([json('{"name":"Rex","categoryId":1}', 201)])
    await expect(client.createPet({ name: 'Rex', categoryId: 1n })).rejects.toMatchObject({
      code: 'unexpected_response',
    })
  })

  test('the client stops reading a body that is too long', async () => {
    let bytes = 0
    const pull = (stream: ReadableStreamDefaultController) => {
      bytes += 1_000_000
      stream.enqueue(new Uint8Array(1_000_000))
    }
    const { client } = clientOf([new Response(new ReadableStream({ pull }))])
    await expect(client.listPets()).rejects.toMatchObject({ code: 'unexpected_response', status: 200 })
    expect(bytes).toBeLessThan(10_000_000)
  })

  test('a network error contains its cause', async () => {
    const cause = new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED 127.0.0.1:1') })
    const { client } = clientOf([cause], false)
    const message =
      'GET https://api.example/v1/pets: no response arrived: fetch failed: connect ECONNREFUSED 127.0.0.1:1.'
    await expect(client.listPets()).rejects.toMatchObject({ code: 'network_error', status: 0, cause, message })
  })
})

describe('a request that gets 429', () => {
  test('a request that gets 429 is sent again after Retry-After', async () => {
    const { client, waits } = clientOf([refusal(7), refusal(60), json('[]')])
    expect((await client.listPets()).pets).toEqual([])
    expect(waits).toEqual([7_500, 61_000])
  })

  test('the client rejects immediately during a ban of 300 seconds', async () => {
    const { client, sent, waits } = clientOf([refusal(300, 'api_key_banned')])
    await expect(client.listPets()).rejects.toMatchObject({ code: 'api_key_banned', status: 429, retryAfter: 300 })
    expect([sent.length, waits]).toEqual([1, []])
  })

  test('the client waits until a ban ends, if the ban ends within maxElapsed', async () => {
    const { client, waits } = clientOf([refusal(300, 'api_key_banned'), json('[]')], { maxElapsed: 300_000 })
    await client.listPets()
    expect(waits).toEqual([300_000])
  })

  test('the client rejects after maxRetries', async () => {
    const { client, sent } = clientOf([refusal(1), refusal(2), refusal(3), refusal(4)], { maxRetries: 3 })
    await expect(client.listPets()).rejects.toMatchObject({ code: 'rate_limit_exceeded', retryAfter: 4 })
    expect(sent.length).toBe(4)
  })

  test('the client compares the date in Retry-After with the Date of the response', async () => {
    const headers = { 'retry-after': 'Sat, 05 Jan 2030 00:00:09 GMT', date: 'Sat, 05 Jan 2030 00:00:00 GMT' }
    const { client, waits } = clientOf(
      [new Response('', { status: 429, headers }), json('[]')],
      {},
      { random: () => 0 },
    )
    await client.listPets()
    expect(waits).toEqual([9_000])
  })

  test.each(['299.997', '+300', '300, 5', '300;comment'])(
    'the client does not retry early after "%s"',
    async (value) => {
      const responses = [new Response('', { status: 429, headers: { 'retry-after': value } }), json('[]')]
      const { client, waits } = clientOf(responses, { maxElapsed: 600_000 }, { random: () => 0 })
      await client.listPets()
      expect(waits).toEqual([300_000])
    },
  )

  test('a random part after Retry-After grows with each failure', async () => {
    const refusals = Array.from({ length: 7 }, () => refusal(2))
    const { client, waits } = clientOf([...refusals, json('[]')], {}, { random: () => 0.5 })
    await client.listPets()
    expect(waits).toEqual([2_250, 2_500, 3_000, 4_000, 6_000, 7_000, 7_000])
  })

  test('the random part ends at maxElapsed if Retry-After ends before', async () => {
    const { client, waits } = clientOf([refusal(7), refusal(60), json('[]')], { maxElapsed: 68_000 })
    await client.listPets()
    expect(waits).toEqual([7_500, 60_500])
  })

  test('without Retry-After, the client waits 500 ms before a retry', async () => {
    const { client, waits } = clientOf([new Response('', { status: 429 }), json('[]')])
    await client.listPets()
    expect(waits).toEqual([500])
  })
})

describe('the idempotency key of createPet', () => {
  const REX = { name: 'Rex', categoryId: 1n }
  const fault = () => new TypeError('fetch failed')
  const keysOf = (sent: readonly SentRequest[]) =>
    sent.map(({ init }) => (init.headers as Record<string, string>)['Idempotency-Key'])
  const UUID = /^"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"$/

  test.each([
    ['a network fault', fault],
    ['a body that breaks off', () => new Response(new ReadableStream({ start: (stream) => stream.error(fault()) }))],
    ['a 502 of a proxy', () => new Response('', { status: 502 })],
    ['a 503', unavailable],
    ['a 504 of a proxy', () => new Response('', { status: 504 })],
  ])('createPet repeats the request with the same key after %s', async (_, outcome) => {
    const { client, sent } = clientOf([outcome(), outcome(), json(PET, 201)])
    await client.createPet(REX)
    const [first, ...others] = keysOf(sent)
    expect(first).toMatch(UUID)
    expect(others).toEqual([first, first])
    expect(new Set(sent.map(({ init }) => init.body)).size).toBe(1)
  })

  test('each call of createPet sends a new idempotency key', async () => {
    const { client, sent } = clientOf([json(PET, 201), json(PET, 201)])
    for (let i = 0; i < 2; i++) await client.createPet(REX)
    expect(new Set(keysOf(sent)).size).toBe(2)
  })

  test('the server reads each idempotency key that the client accepts', async () => {
    const backEnd = memory()
    const { token } = await backEnd.keyStore.issue({ plan: 'business' })
    const { fetch } = createPetStore(backEnd)
    const client = createPetStoreClient({ baseUrl: 'https://api.example/v1', apiKey: token, fetch })
    for (const idempotencyKey of ['a', ' a b ', '"', '\\', '\\"', 'x'.repeat(255), '"'.repeat(255)]) {
      const [one, two] = [
        await client.createPet(REX, { idempotencyKey }),
        await client.createPet(REX, { idempotencyKey }),
      ]
      expect(two).toEqual(one)
    }
    await expect(client.createPet({ ...REX, name: 'Ada' }, { idempotencyKey: 'a' })).rejects.toMatchObject({
      code: 'idempotency_key_reused',
      status: 422,
    })
  })

  test.each(['', 'x'.repeat(256), 'é', '\n', 7])('createPet sends no invalid idempotency key: %j', async (key) => {
    const { client, sent } = clientOf([])
    await expect(client.createPet(REX, { idempotencyKey: key as never })).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringMatching(/^option idempotencyKey: expected 1 to 255 visible ASCII characters/),
    })
    expect(sent.length).toBe(0)
  })

  test('with idempotencyKey null, createPet sends no key and does not retry', async () => {
    const { client, sent } = clientOf([fault(), json(PET, 201)])
    const error = await client.createPet(REX, { idempotencyKey: null }).catch((error: unknown) => error)
    expect(error).toMatchObject({ code: 'network_error' })
    expect(error).not.toHaveProperty('idempotencyKey')
    expect(keysOf(sent)).toEqual([undefined])
  })

  test('the error of createPet has the idempotency key of the call', async () => {
    const { client, sent } = clientOf([unavailable(), json('<html>', 201)], { maxRetries: 0 })
    for (let i = 0; i < 2; i++) {
      const error = (await client.createPet(REX).catch((error: unknown) => error)) as PetStoreError
      expect(`"${error.idempotencyKey}"`).toBe(keysOf(sent)[i])
    }
  })

  test('createPet sends the request again with the same key after a 409', async () => {
    const { client, sent } = clientOf([new Response('', { status: 409 }), json(PET, 201)])
    await client.createPet(REX)
    expect(keysOf(sent)).toEqual([expect.stringMatching(UUID), keysOf(sent)[0]])
    const other = clientOf([new Response('', { status: 409 })])
    await expect(other.client.createPet(REX, { idempotencyKey: null })).rejects.toMatchObject({ status: 409 })
  })

  test('without crypto.randomUUID, createPet sends no key and does not retry', async () => {
    vi.stubGlobal('crypto', {})
    const { client, sent } = clientOf([fault(), json(PET, 201)])
    await expect(client.createPet(REX)).rejects.toMatchObject({ code: 'network_error' })
    expect(keysOf(sent)).toEqual([undefined])
  })
})

describe('a redirect', () => {
  const redirect = (location: string) => new Response(null, { status: 307, headers: { location } })

  test('a redirect is not followed, and the error names its target', async () => {
    const { client, sent } = clientOf([redirect("https://user:se'cr et@other.example/v1/pets")])
    const call = client.createPet({ name: 'Rex', categoryId: 1n })
    await expect(call).rejects.toMatchObject({ code: 'unexpected_response', status: 307 })
    await expect(call).rejects.toThrow('got a redirect to "https://other.example/v1/pets"')
    expect(sent.map(({ init }) => init.redirect)).toEqual(['manual'])
  })

  test.each([
    ['an opaque redirect, as in browsers', { type: 'opaqueredirect', status: 0 }, 'an unknown URL'],
    [
      'a redirect that the fetch of the caller has followed',
      { redirected: true, url: 'https://other.example/' },
      'other.example',
    ],
  ])('the client rejects %s', async (_, members, target) => {
    const response = json('[]')
    for (const [name, value] of Object.entries(members)) Object.defineProperty(response, name, { value })
    await expect(clientOf([response]).client.listPets()).rejects.toThrow(target)
  })
})

describe('onRetry', () => {
  test('onRetry receives each failed attempt with the wait after it', async () => {
    const retries: UpcomingRetry[] = []
    const { client } = clientOf([refusal(7), unavailable(), json('[]')], {}, {}, { onRetry: (r) => retries.push(r) })
    await client.listPets()
    expect(retries).toEqual([
      { attempt: 1, delay: 7_500, error: expect.objectContaining({ code: 'rate_limit_exceeded', status: 429 }) },
      { attempt: 2, delay: 1_000, error: expect.objectContaining({ code: 'service_unavailable', status: 503 }) },
    ])
  })

  test.each([
    [
      'an onRetry that throws',
      () => {
        throw new Error('no more')
      },
    ],
    ['an onRetry that returns a rejected promise', () => Promise.reject(new Error('no more'))],
  ])('the call rejects with the error from %s', async (_, onRetry) => {
    const { client, sent } = clientOf([refusal(7)], {}, {}, { onRetry })
    await expect(client.listPets()).rejects.toThrow('no more')
    expect(sent.length).toBe(1)
  })
})

describe('a failed request', () => {
  const fault = () => new TypeError('fetch failed')

  test('a failed request is retried after exponential delays with jitter', async () => {
    const factors = [1, 0.5, 0]
    const { client, waits } = clientOf(
      [fault(), unavailable(), fault(), json('[]')],
      {},
      {
        random: () => factors.shift() ?? Number.NaN,
      },
    )
    await client.listPets()
    expect(waits).toEqual([500, 500])
  })

  test('the client waits at most maxDelay between retries', async () => {
    const { client, waits } = clientOf([fault(), fault(), json('[]')], { baseDelay: 400, maxDelay: 600 })
    await client.listPets()
    expect(waits).toEqual([400, 600])
  })

  test('after a 503, the client waits as many seconds as Retry-After says', async () => {
    const { client, waits } = clientOf([unavailable({ 'retry-after': '5' }), json('[]')], {}, { random: () => 0 })
    await client.listPets()
    expect(waits).toEqual([5_000])
  })

  test.each([400, 401, 404, 500])('a request is not sent again after status %i', async (status) => {
    const { client, sent } = clientOf([new Response('', { status })])
    await expect(client.listPets()).rejects.toMatchObject({ status })
    expect(sent.length).toBe(1)
  })

  test('a failed request is not sent again with retry: false', async () => {
    const { client, sent } = clientOf([refusal(0)], false)
    await expect(client.listPets()).rejects.toMatchObject({ status: 429 })
    expect(sent.length).toBe(1)
  })
})

describe('an AbortSignal', () => {
  afterEach(() => void vi.useRealTimers())

  test('a signal that is already aborted prevents the request', async () => {
    const { client, sent } = clientOf([json('[]')])
    await expect(client.listPets({ signal: AbortSignal.abort('stop') })).rejects.toBe('stop')
    expect(sent.length).toBe(0)
  })

  test('an aborted signal ends the wait before a retry', async () => {
    vi.useFakeTimers()
    const controller = new AbortController()
    const fetch = vi.fn(async () => refusal(60))
    const client = createPetStoreClient({ baseUrl: 'https://api.example/v1', apiKey: API_KEY, fetch })
    const listed = client.listPets({ signal: controller.signal })
    const rejected = expect(listed).rejects.toBe('enough')
    await until(async () => vi.getTimerCount() === 1)
    controller.abort('enough')
    await rejected
    expect([vi.getTimerCount(), fetch.mock.calls.length]).toEqual([0, 1])
  })

  test('an aborted signal rejects a running request without a retry', async () => {
    const controller = new AbortController()
    const fetch = vi.fn(async (_: string, { signal }: RequestInit) => {
      controller.abort('enough')
      throw signal?.reason
    })
    const client = createPetStoreClient({ baseUrl: 'https://api.example/v1', apiKey: API_KEY, fetch })
    await expect(client.getPet(1n, { signal: controller.signal })).rejects.toBe('enough')
    expect(fetch).toHaveBeenCalledTimes(1)
  })
})

describe('timeout', () => {
  afterEach(() => void vi.useRealTimers())

  function hangingClient(options: Partial<PetStoreClientOptions>, answers: readonly Response[] = []) {
    vi.useFakeTimers()
    const left = [...answers]
    // The promise never settles, as with a `fetch` that ignores its signal.
    const fetch = vi.fn(async () => left.shift() ?? new Promise<Response>(() => {}))
    return {
      fetch,
      client: createPetStoreClient({ baseUrl: 'https://api.example/v1', apiKey: API_KEY, fetch, ...options }),
    }
  }

  test('a POST without a response rejects after 30 seconds', async () => {
    const { client } = hangingClient({})
    const rejected = expect(client.createPet({ name: 'Rex', categoryId: 1n })).rejects.toMatchObject({
      code: 'network_error',
      cause: { name: 'TimeoutError' },
    })
    await vi.advanceTimersByTimeAsync(30_000)
    await rejected
    expect(vi.getTimerCount()).toBe(0)
  })

  test('sends a GET again if the response body does not end in time', async () => {
    const endless = new Response(new ReadableStream())
    const { client, fetch } = hangingClient({ timeout: 200, retry: { baseDelay: 0 } }, [endless, json('[]')])
    const listed = client.listPets()
    await vi.advanceTimersByTimeAsync(201)
    expect((await listed).pets).toEqual([])
    expect(fetch).toHaveBeenCalledTimes(2)
  })

  test('an aborted signal rejects a call whose fetch ignores the signal', async () => {
    const { client } = hangingClient({})
    const controller = new AbortController()
    const rejected = expect(client.listPets({ signal: controller.signal })).rejects.toBe('enough')
    await vi.advanceTimersByTimeAsync(1)
    controller.abort('enough')
    await rejected
    expect(vi.getTimerCount()).toBe(0)
  })
})

test("after a timeout, the caller's signal has no listener, whatever fetch does", async () => {
  vi.useFakeTimers()
  const fetch = () => new Promise<Response>(() => {})
  const client = createPetStoreClient({
    baseUrl: 'https://api.example/v1',
    apiKey: API_KEY,
    fetch,
    timeout: 5,
    retry: false,
  })
  const { signal } = new AbortController()
  const rejected = expect(client.listPets({ signal })).rejects.toMatchObject({ code: 'network_error' })
  await vi.advanceTimersByTimeAsync(5)
  await rejected
  vi.useRealTimers()
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

describe('options', () => {
  const create = (options: object) => () =>
    createPetStoreClient({ baseUrl: 'https://a/v1', apiKey: API_KEY, ...options } as PetStoreClientOptions)

  test.each([
    ['baseUrl', { baseUrl: '/v1' }],
    ['baseUrl', { baseUrl: undefined }],
    ['baseUrl', { baseUrl: 'https://a/v1?x' }],
    ['baseUrl', { baseUrl: 'https://user:secret@a/v1' }],
    ['apiKey', { apiKey: undefined }],
    ['apiKey', { apiKey: '' }],
    ['fetch', { fetch: 'fetch' }],
    ['timeout', { timeout: 0 }],
    ['onRetry', { onRetry: 3 }],
    ['retry', { retry: 3 }],
    ['retry.sleep', { retry: { sleep: async () => {} } }],
    ['retry.maxDelay', { retry: { maxDelay: -1 } }],
    ['retry.maxRetries', { retry: { maxRetries: 1.5 } }],
    ['retry.limit', { retry: { limit: 2 } }],
    ['token', { token: 'x' }],
  ])('the error about an invalid option says which option it is: %s', (name, options) => {
    expect(create(options)).toThrow(
      expect.objectContaining({
        code: 'invalid_option',
        message: expect.stringMatching(new RegExp(`^option ${name}: `)),
      }),
    )
  })

  test('baseUrl may be a URL object', async () => {
    const client = createPetStoreClient({ baseUrl: new URL('https://api.example/v1/'), apiKey: API_KEY })
    const fetch = vi.fn(async () => json('[]'))
    vi.stubGlobal('fetch', fetch)
    try {
      await client.listPets()
      expect(fetch).toHaveBeenCalledWith('https://api.example/v1/pets', expect.anything())
    } finally {
      vi.unstubAllGlobals()
    }
  })
})
