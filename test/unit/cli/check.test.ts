import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { type CheckFlags, checkServer, exitCodeOf, type RowResult } from '../../../adapters/cli/check.ts'
import { parseServerUrl, parseToken, wholeNumber } from '../../../adapters/cli/terminal/flags.ts'
import { fail } from '../../../adapters/cli/terminal/output.ts'
import { createTestPetStore, type ManualClock, manualClock } from '../../../src/testing/index.ts'

const URL_OF_API = 'http://localhost/v1'
const PLANS = { tiny: { perMinute: 3, perDay: 100 } }

/** Receives a request before the store does, and returns the response. Both can be changed. */
type Change = (request: Request, send: (request: Request) => Promise<Response>) => Promise<Response> | Response

/** Runs `petstore check` against a new store whose requests and responses are changed by `change`. */
async function checkStore(
  change: Change = (request, send) => send(request),
  flags: Partial<CheckFlags> = {},
  start?: ManualClock,
) {
  const store = await createTestPetStore({ plan: 'pro', plans: PLANS, clock: start })
  const { token: limitedKey } = await store.keyStore.issue({ plan: 'tiny' })
  const fetch = async (url: string, init: RequestInit) => change(new Request(url, init), store.fetch)
  const results = await checkServer(
    URL_OF_API,
    { key: store.token, limitedKey, timeout: 10, ...flags },
    { fetch, clock: store.clock },
  )
  return { results, requests: store.requests, failures: results.filter(({ result }) => result === 'fail') }
}

/** Returns a `Change` that edits the query and the headers of each request. */
const onRequest =
  (change: (url: URL, headers: Headers) => void): Change =>
  async (request, send) => {
    const [url, headers] = [new URL(request.url), new Headers(request.headers)]
    change(url, headers)
    const body = request.body === null ? null : await request.arrayBuffer()
    return send(new Request(url, { method: request.method, headers, body }))
  }

/** Returns a `Change` that edits the responses: all of them, or only those to some requests. */
const onResponse =
  (change: (response: Response, request: Request) => Response | Promise<Response> | undefined): Change =>
  async (request, send) => {
    const response = await send(request)
    return (await change(response, request)) ?? response
  }

const onHeaders = (change: (headers: Headers, request: Request) => void) =>
  onResponse((response, request) => void change(response.headers, request))

const onText = (change: (text: string) => string) =>
  onResponse(async (response) =>
    response.status === 204 || response.body === null
      ? response
      : new Response(change(await response.text()), response),
  )

const onStatus = (from: number, to: number, isMeant: (request: Request) => boolean = () => true) =>
  onResponse((response, request) =>
    response.status === from && isMeant(request) ? withStatus(response, to) : undefined,
  )

function withStatus({ body, headers }: Response, status: number): Response {
  return new Response(body, { status, headers })
}

const isGetPet = ({ method, url }: Request) => method === 'GET' && /\/pets\/\d+$/.test(url)

/** A faulty server: its fault, the title of the row that must fail, and the message of that row. */
interface Fault {
  readonly fault: string
  readonly row: string
  readonly says: RegExp
  readonly change: Change
}

/** Faults that violate the specification of the interface. */
const contractFaults: readonly Fault[] = [
  {
    fault: 'the media type is text/html',
    row: 'adds an animal, and responds with 201 and its id',
    says: /Content-Type: expected "application\/json", got "text\/html"/,
    change: onHeaders((headers) => headers.set('Content-Type', 'text/html')),
  },
  {
    fault: 'createPet responds with 200',
    row: 'adds an animal, and responds with 201 and its id',
    says: /expected status 201, got 200/,
    change: onStatus(201, 200),
  },
  {
    fault: 'ids are strings',
    row: 'adds an animal, and responds with 201 and its id',
    says: /expected an animal, got .*: id: expected an integer from -2\^63 to 2\^63-1, got the string/,
    change: onText((text) => text.replaceAll(/"id":(\d+)/g, '"id":"$1"')),
  },
  {
    fault: 'every id is 1',
    row: 'gives each animal its own id',
    says: /expected two different ids, got 1 twice/,
    change: onText((text) => text.replaceAll(/"id":\d+/g, '"id":1')),
  },
  {
    fault: 'integers are rounded to floating-point numbers',
    row: 'keeps all digits of 64-bit integers',
    says: /categoryId: expected an integer from -2\^63 to 2\^63-1, got the number 9223372036854776000/,
    change: onText((text) => (text === '' ? text : JSON.stringify(JSON.parse(text)))),
  },
  {
    fault: 'names lose characters outside ASCII',
    row: 'reads an added animal by its id',
    says: /name: "Zo\\u\{eb\} \\u\{1f415\}".*, got .*name: "Zo\? \?+"/,
    change: onText((text) => text.replaceAll(/[^\0-\x7f]/g, '?')),
  },
  {
    fault: 'an added animal is not kept',
    row: 'reads an added animal by its id',
    says: /expected status 200, got 404/,
    change: onResponse((response, request) =>
      isGetPet(request) && response.ok
        ? Response.json({ code: 'x', message: 'x', status: 404 }, { status: 404 })
        : undefined,
    ),
  },
  {
    fault: 'the list is empty',
    row: 'lists an added animal',
    says: /expected the animal \d+ in the list/,
    change: onText((text) => (text.startsWith('[') ? '[]' : text)),
  },
  {
    fault: 'the list is an object',
    row: 'lists an added animal',
    says: /expected an array, got \{"pets"/,
    change: onText((text) => (text.startsWith('[') ? `{"pets":${text}}` : text)),
  },
  {
    fault: 'limit is ignored',
    row: 'lists at most as many animals as limit says',
    says: /animals with limit=1: expected 1, got \d+/,
    change: onRequest((url) => url.searchParams.delete('limit')),
  },
  {
    fault: 'the default of limit is 100',
    row: 'lists 20 animals by default',
    says: /animals in the response to GET \/pets: expected 20, got 21/,
    change: onRequest((url) => url.searchParams.has('limit') || url.searchParams.set('limit', '100')),
  },
  {
    fault: 'the filter by status is ignored',
    row: 'lists only animals with the given status',
    says: /expected only the status sold, got pending/,
    change: onRequest((url) => url.searchParams.delete('status')),
  },
  {
    fault: 'an invalid body gets 422',
    row: 'rejects a body without a required field with 400',
    says: /expected status 400, got 422/,
    change: onStatus(400, 422),
  },
  {
    fault: 'an unknown status is accepted',
    row: 'rejects a field with an invalid value with 400',
    says: /expected status 400, got 201/,
    change: async (request, send) => {
      const text = (await request.text()).replace('"lost"', '"sold"')
      const { method, headers } = request
      return send(
        new Request(request.url, { method, headers, body: method === 'GET' || method === 'HEAD' ? null : text }),
      )
    },
  },
  {
    fault: 'an error has no status',
    row: 'rejects a body without a required field with 400',
    says: /status in the body: expected 400n, got undefined/,
    change: onText((text) => text.replace(/,"status":\d+}/, '}')),
  },
  {
    fault: 'an error has a number as its code',
    row: 'rejects a body without a required field with 400',
    says: /expected a code, got \{"code":4/,
    change: onText((text) => text.replace(/"code":"\w+"/, '"code":4')),
  },
  {
    fault: 'an unknown animal gets 200',
    row: 'responds with 404 if there is no animal with the id',
    says: /expected status 404, got 200/,
    change: onStatus(404, 200),
  },
  {
    fault: 'getPet is removed before its day',
    row: 'responds with 404 if there is no animal with the id',
    says: /expected status 404, got 410/,
    change: onResponse((response, request) => (isGetPet(request) ? withStatus(response, 410) : undefined)),
  },
  {
    fault: 'Authorization is ignored',
    row: 'rejects every operation without a key with 401',
    says: /GET \/pets: expected status 401, got 200/,
    change: (() => {
      let known: string | null = null
      return onRequest((_url, headers) => {
        known ??= headers.get('Authorization')
        if (!headers.has('Authorization') && known) headers.set('Authorization', known)
      })
    })(),
  },
  {
    fault: 'a missing key gets 403',
    row: 'rejects every operation without a key with 401',
    says: /expected status 401, got 403/,
    change: onStatus(401, 403),
  },
  {
    fault: 'any key is accepted by getPet',
    row: 'rejects every operation with an invalid key with 401',
    says: /GET \/pets\/1: expected status 401, got 200/,
    change: onStatus(401, 200, (request) => isGetPet(request) && request.headers.has('Authorization')),
  },
  {
    fault: 'errors have no X-RateLimit-Reset',
    row: 'sends the three rate-limit headers with every response',
    says: /expected an integer in X-RateLimit-Reset, got no such header/,
    change: onResponse((response) => void (response.ok || response.headers.delete('X-RateLimit-Reset'))),
  },
  {
    fault: 'X-RateLimit-Limit is a text',
    row: 'sends the three rate-limit headers with every response',
    says: /expected an integer in X-RateLimit-Limit, got 300;w=60/,
    change: onHeaders((headers) => headers.set('X-RateLimit-Limit', '300;w=60')),
  },
  {
    fault: 'X-RateLimit-Reset is in milliseconds',
    row: 'sends X-RateLimit-Reset as a Unix timestamp in seconds',
    says: /expected a Unix timestamp in seconds, got \d{13}/,
    change: onHeaders((headers) => headers.set('X-RateLimit-Reset', `${headers.get('X-RateLimit-Reset')}000`)),
  },
  {
    fault: 'X-RateLimit-Reset is a number of seconds from now on',
    row: 'sends X-RateLimit-Reset as a Unix timestamp in seconds',
    says: /expected a Unix timestamp in seconds, got 30/,
    change: onHeaders((headers) => headers.set('X-RateLimit-Reset', '30')),
  },
  {
    fault: 'X-RateLimit-Remaining does not change',
    row: 'counts down X-RateLimit-Remaining',
    says: /expected X-RateLimit-Remaining below 3, got 3/,
    change: onHeaders((headers) => headers.set('X-RateLimit-Remaining', '3')),
  },
  {
    fault: 'a 429 has no Retry-After',
    row: 'rejects a request over the limit with 429 and Retry-After',
    says: /expected Retry-After/,
    change: onHeaders((headers) => headers.delete('Retry-After')),
  },
  {
    fault: 'no limit is enforced',
    row: 'rejects a request over the limit with 429 and Retry-After',
    says: /expected a 429 after at most 100 requests/,
    change: onStatus(429, 200),
  },
]

/** Faults that violate a decision of this project, where the specification is silent. */
const decisionFaults: readonly Fault[] = [
  {
    fault: 'a new animal has no status',
    row: 'adds an animal without a status as available',
    says: /status: expected "available", got undefined/,
    change: onText((text) => text.replaceAll(',"status":"available"', '')),
  },
  {
    fault: 'Link is missing',
    row: 'Link leads to the next page, with greater ids',
    says: /expected a Link with rel="next"/,
    change: onHeaders((headers) => headers.delete('Link')),
  },
  {
    fault: 'X-Next-Cursor is missing',
    row: 'X-Next-Cursor and Link lead to the same page',
    says: /expected X-Next-Cursor/,
    change: onHeaders((headers) => headers.delete('X-Next-Cursor')),
  },
  {
    fault: 'cursor is ignored',
    row: 'Link leads to the next page, with greater ids',
    says: /expected an id above (\d+), got \1/,
    change: onRequest((url) => url.searchParams.delete('cursor')),
  },
  {
    fault: 'the link to the next page omits the filter',
    row: 'Link leads to the next page, with greater ids',
    says: /status: expected "pending", got "available"/,
    change: onHeaders((headers) => {
      const link = headers.get('Link')
      if (link !== null) headers.set('Link', link.replace('status=pending&', ''))
    }),
  },
  {
    fault: 'Location is missing',
    row: 'sends the path of an added animal in Location',
    says: /expected Location to end in \/pets\/\d+, got no header/,
    change: onHeaders((headers) => headers.delete('Location')),
  },
  {
    fault: 'an error has another code',
    row: 'rejects malformed JSON with 400',
    says: /code: "bad_json".*|expected \{ code: "malformed_json"/,
    change: onText((text) => text.replace('malformed_json', 'bad_json')),
  },
  {
    fault: 'malformed JSON gets 500',
    row: 'rejects malformed JSON with 400',
    says: /expected status 400, got 500/,
    change: onResponse(async (response) => {
      const text = await response.clone().text()
      return text.includes('malformed_json') ? withStatus(response, 500) : response
    }),
  },
  {
    fault: 'an error has a fourth member',
    row: 'names every wrong field of a body',
    says: /the body, apart from its message: expected .*, got \{.*trace: "x"/,
    change: onText((text) => text.replace('"code":"invalid_body"', '"code":"invalid_body","trace":"x"')),
  },
  {
    fault: 'a lower-case scheme is rejected',
    row: 'ignores the case of the scheme Bearer',
    says: /expected status 200, got 401/,
    change: onRequest((_url, headers) => {
      if (!/^Bearer/.test(headers.get('Authorization') ?? 'Bearer')) headers.set('Authorization', 'Bearer x')
    }),
  },
  {
    fault: 'WWW-Authenticate is missing',
    row: 'a missing key and an invalid key get different codes',
    says: /WWW-Authenticate: expected "Bearer realm=\\?"petstore\\?"", got null/,
    change: onHeaders((headers) => headers.delete('WWW-Authenticate')),
  },
  {
    fault: 'getPet does not announce its removal',
    row: 'announces the removal of getPet',
    says: /Deprecation: expected "@1764892800", got null/,
    change: onHeaders((headers) => headers.delete('Deprecation')),
  },
  {
    fault: 'HEAD has a body',
    row: 'responds to HEAD like GET, without the body',
    says: /HEAD \/pets\?limit=1: body: expected "", got "\[/,
    change: onResponse((response, { method }) => (method === 'HEAD' ? new Response('[]', response) : undefined)),
  },
  {
    fault: 'an unknown method gets 404',
    row: 'responds with 405 and Allow to an unknown method',
    says: /expected status 405, got 404/,
    change: onStatus(405, 404),
  },
  {
    fault: 'Retry-After is a date',
    row: 'sends Retry-After in whole seconds, and a code, with a 429',
    says: /expected whole seconds in Retry-After/,
    change: onHeaders((headers) => {
      if (headers.has('Retry-After')) headers.set('Retry-After', 'Fri, 15 Jan 2027 12:00:00 GMT')
    }),
  },
]

const row = (failures: readonly RowResult[], title: string) => failures.find((failure) => failure.title === title)

describe('petstore check', () => {
  test('petstore check passes every row against a correct store', async () => {
    const { results, failures } = await checkStore()
    expect(failures).toEqual([])
    expect(results.every(({ result }) => result === 'pass')).toBe(true)
    expect(exitCodeOf(results)).toBe(0)
  })

  test.each(contractFaults)('petstore check fails and exits with 1 if $fault', async ({ row: title, says, change }) => {
    const { results, failures } = await checkStore(change)
    expect(row(failures, title)).toMatchObject({ basis: 'contract', reason: expect.stringMatching(says) })
    expect(exitCodeOf(results)).toBe(1)
  })

  test.each(decisionFaults)(
    'petstore check reports a failed decision row, but exits with 0, if $fault',
    async ({ row: title, says, change }) => {
      const { results, failures } = await checkStore(change)
      expect(row(failures, title)).toMatchObject({ basis: 'decision', reason: expect.stringMatching(says) })
      expect(failures.filter(({ basis }) => basis === 'contract')).toEqual([])
      expect(exitCodeOf(results)).toBe(0)
    },
  )

  test('petstore check accepts 410 from getPet once the operation is removed', async () => {
    const { failures } = await checkStore(undefined, {}, manualClock(Date.UTC(2030, 11, 5)))
    expect(failures).toEqual([])
  })

  test("petstore check reads the server's time from the Date header", async () => {
    const { failures } = await checkStore(
      onHeaders((headers) => headers.set('Date', 'Wed, 04 Dec 2030 23:59:59 GMT')),
      {},
      manualClock(Date.UTC(2030, 11, 5)),
    )
    expect(row(failures, 'reads an added animal by its id')?.reason).toMatch(/expected status 200, got 410/)
  })

  test('petstore check omits decision rows with --contract-only', async () => {
    const { results } = await checkStore(undefined, { contractOnly: true, limitedKey: undefined })
    expect(results.every(({ basis }) => basis === 'contract')).toBe(true)
    const skipped = results.filter(({ result }) => result === 'skip')
    expect(skipped).toMatchObject([{ reason: 'needs --limited-key, a key whose limit the check uses up' }])
    expect(exitCodeOf(results)).toBe(0)
  })

  test('petstore check skips the remaining rows after the daily limit', async () => {
    let count = 0
    const day = { 'Retry-After': '3600', 'Content-Type': 'application/json' }
    const { results, failures } = await checkStore(
      (request, send) => {
        const isOurs = /^Bearer pet_\w+$/.test(request.headers.get('Authorization') ?? '')
        if (isOurs) count += 1
        return isOurs && count > 30 ? new Response('{}', { status: 429, headers: day }) : send(request)
      },
      { limitedKey: undefined },
    )
    expect(failures).toEqual([])
    expect(results.find(({ result }) => result === 'skip')?.reason).toMatch(/has to wait 3600 seconds/)
    expect(count).toBe(31)
    expect(exitCodeOf(results)).toBe(2)
  })

  test('petstore check fails a row whose request gets no response', async () => {
    const { failures } = await checkStore((request, send) =>
      request.method === 'POST'
        ? Promise.reject(new TypeError('fetch failed', { cause: new Error('reset') }))
        : send(request),
    )
    expect(row(failures, 'adds an animal, and responds with 201 and its id')?.reason).toBe('POST /pets: reset')
  })

  test('petstore check stops after three rows without a response', async () => {
    let time = new AbortController()
    const timeouts = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
      time = new AbortController()
      return time.signal
    })
    onTestFinished(() => timeouts.mockRestore())
    const { token, fetch: send } = await createTestPetStore()
    const fetch = async (url: string, init: RequestInit) => {
      if (init.method !== 'POST') return send(url, init)
      time.abort()
      throw time.signal.reason
    }
    const titles: string[] = []
    const options = { fetch, onRow: ({ title }: RowResult) => titles.push(title) }
    await expect(checkServer(URL_OF_API, { key: token, timeout: 10 }, options)).rejects.toThrow(
      'the server has stopped responding: 3 successive rows got no response within 10 seconds',
    )
    expect(titles).toHaveLength(3)
  })

  test('petstore check waits for a response until the timeout', async () => {
    const never: Change = ({ signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    await expect(checkStore(never, { timeout: 0.01 })).rejects.toThrow(/no response within 0.01 seconds/)
  })

  test.each([
    ['a wrong key', { status: 401 }, /^--key: the server rejects this key \(401, no known error code\)/],
    ['a wrong path', { status: 404 }, /^expected the address of the API with its version/],
  ])('the error of petstore check explains %s', async (_, init, message) => {
    const fetch = async () => Response.json({}, init)
    const checked = checkServer('http://localhost', { key: 'x', timeout: 1 }, { fetch })
    await expect(checked).rejects.toThrow(message)
  })

  test('the error of petstore check does not repeat an unknown error code', async () => {
    const fetch = async () => Response.json({ code: 'Bearer my-token' }, { status: 401 })
    const checked = checkServer('http://localhost', { key: 'my-token', timeout: 1 }, { fetch })
    await expect(checked).rejects.toThrow(/^(?!.*my-token)/)
  })

  test('petstore check sends the key only to the host under test', async () => {
    const hosts = new Set<string>()
    const { failures } = await checkStore(async (request, send) => {
      hosts.add(new URL(request.url).host)
      const response = await send(request)
      response.headers.set('Link', (response.headers.get('Link') ?? '').replace('<', '<https://evil.example'))
      return response
    })
    expect(failures).toEqual([])
    expect([...hosts]).toEqual(['localhost'])
  })
})

describe('the flags of petstore check', () => {
  test.each(['', 'localhost:3000/v1', 'ftp://a/v1', 'http://user@a/v1', 'http://a/v1?x', 'http://a/v1#x'])(
    'petstore check rejects the address %j',
    (text) => {
      expect(() => parseServerUrl(text)).toThrow(/^Expected an address/)
    },
  )

  test('petstore check accepts an address with a final slash', () => {
    expect(parseServerUrl('https://a.example/v1/')).toBe('https://a.example/v1')
  })

  test.each(['', 'a b', 'a\n', 'ä'])('petstore check rejects the token %j', (text) => {
    expect(() => parseToken(text)).toThrow(/visible ASCII/)
  })

  test.each(['0', '601', '1.5'])('petstore check rejects the timeout %j', (text) => {
    expect(() => wholeNumber(1, 600)(text)).toThrow(/^Expected a whole number/)
  })
})

describe('a server that does not behave', () => {
  const flags = { key: 'pet_hidden_token', timeout: 10 }

  test.each([
    ['of the interface', '9223372036854775807', 1],
    ['of a decision', '[[[[', 2],
  ])('petstore check names the row %s at which the server stopped', async (_, lastBody, code) => {
    const store = await createTestPetStore({ plan: 'pro', token: flags.key })
    let isGone = false
    const fetch = async (url: string, init: RequestInit) => {
      if (isGone) throw new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED', message: 'refused' } })
      isGone = String(init.body).includes(lastBody)
      if (isGone) throw new TypeError('fetch failed', { cause: { message: 'other side closed' } })
      return store.fetch(url, init)
    }
    const stoppedAt: string[] = []
    const results = await checkServer(URL_OF_API, flags, { fetch, onStop: (row) => stoppedAt.push(row) })
    const failed = results.filter(({ result }) => result === 'fail')
    expect(stoppedAt).toEqual([failed[0]?.title])
    expect(failed).toEqual([expect.objectContaining({ reason: expect.stringContaining('other side closed') })])
    const later = results.slice(results.indexOf(failed[0] as RowResult) + 1)
    expect(later.filter(({ result }) => result !== 'skip').map(({ result }) => result)).toContain('not run')
    expect(later.filter(({ result }) => result === 'pass' || result === 'fail')).toEqual([])
    expect(exitCodeOf(results)).toBe(code)
  })

  test('petstore check rejects an endless body', async () => {
    const fetch = async () =>
      new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1_000_000)) }))
    await expect(checkServer(URL_OF_API, flags, { fetch })).rejects.toThrow(/expected a body of at most \d+ bytes/)
  })

  test('petstore check prints no control character and no token from a server', async () => {
    const write = vi.spyOn(console, 'error').mockReturnValue()
    onTestFinished(() => {
      write.mockRestore()
      process.exitCode = 0
    })
    const body = { code: '\u001b[2J\u009b2J', message: '', status: 401 }
    const fetch = async () => Response.json(body, { status: 401 })
    await checkServer(URL_OF_API, flags, { fetch }).catch((error) => fail(error))
    expect(write.mock.calls).toEqual([[expect.stringMatching(/^petstore: --key: [^\p{C}]+$/u)]])

    const echo = async (_: string, init: RequestInit) =>
      Response.json({ code: new Headers(init.headers).get('authorization') })
    const results = await checkServer(URL_OF_API, flags, { fetch: echo })
    expect(JSON.stringify(results)).not.toContain(flags.key)
  })
})
