import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { type CheckFlags, checkServer, exitCodeOf, type RuleResult } from '../../../adapters/cli/check.ts'
import { parseServerUrl, parseToken, wholeNumber } from '../../../adapters/cli/terminal/flags.ts'
import { fail } from '../../../adapters/cli/terminal/output.ts'
import { wholeNumber as range } from '../../../src/schemas/options.ts'
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
  const { token: limitedKey } = await store.keys.issue({ plan: 'tiny' })
  const { token: readOnlyKey } = await store.keys.issue({ plan: 'pro', access: 'read' })
  const fetch = async (url: string, init: RequestInit) => change(new Request(url, init), store.fetch)
  const results = await checkServer(
    URL_OF_API,
    { key: store.token, limitedKey, readOnlyKey, timeout: 10, ...flags },
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

/** A faulty server: its fault, the title of the rule that must fail, and the message of that rule. */
interface Fault {
  readonly fault: string
  readonly rule: string
  readonly says: RegExp
  readonly change: Change
}

const faults: readonly Fault[] = [
  {
    fault: 'the media type is text/html',
    rule: 'adds an animal, and responds with 201 and its id',
    says: /Content-Type: expected "application\/json", got "text\/html"/,
    change: onHeaders((headers) => headers.set('Content-Type', 'text/html')),
  },
  {
    fault: 'integers are rounded to floating-point numbers',
    rule: 'keeps all digits of 64-bit integers',
    says: /categoryId: expected an integer from -2\^63 to 2\^63-1, got the number 9223372036854776000/,
    change: onText((text) => (text === '' ? text : JSON.stringify(JSON.parse(text)))),
  },
  {
    fault: 'the filter by status is ignored',
    rule: 'lists only animals with the given status',
    says: /expected only the status sold, got pending/,
    change: onRequest((url) => url.searchParams.delete('status')),
  },
  {
    fault: 'an error has no status',
    rule: 'rejects a body without a required field with 400',
    says: /status in the body: expected 400n, got undefined/,
    change: onText((text) => text.replace(/,"status":\d+}/, '}')),
  },
  {
    fault: 'Authorization is ignored',
    rule: 'rejects every operation without a key with 401',
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
    fault: 'keys that may only read add animals',
    rule: 'a key that may only read lists animals, and gets 403 if it adds one',
    says: /POST \/pets: expected status 403, got 201/,
    change: (() => {
      let known: string | null = null
      return onResponse((response, request) => {
        known ??= request.headers.get('Authorization')
        return response.status === 403 && known
          ? new Response('{}', { status: 201, headers: response.headers })
          : undefined
      })
    })(),
  },
  {
    fault: 'errors have no X-RateLimit-Reset',
    rule: 'sends the three rate-limit headers with every response',
    says: /expected an integer in X-RateLimit-Reset, got no such header/,
    change: onResponse((response) => void (response.ok || response.headers.delete('X-RateLimit-Reset'))),
  },
  {
    fault: 'X-RateLimit-Reset is in milliseconds',
    rule: 'sends X-RateLimit-Reset as a Unix timestamp in seconds',
    says: /expected a Unix timestamp in seconds, got \d{13}/,
    change: onHeaders((headers) => headers.set('X-RateLimit-Reset', `${headers.get('X-RateLimit-Reset')}000`)),
  },
  {
    fault: 'X-RateLimit-Remaining does not change',
    rule: 'counts down X-RateLimit-Remaining',
    says: /expected X-RateLimit-Remaining below 3, got 3/,
    change: onHeaders((headers) => headers.set('X-RateLimit-Remaining', '3')),
  },
  {
    fault: 'a 429 has no Retry-After',
    rule: 'rejects a request over the limit with 429 and Retry-After',
    says: /expected Retry-After/,
    change: onHeaders((headers) => headers.delete('Retry-After')),
  },
  {
    fault: 'the link to the next page omits the filter',
    rule: 'Link leads to the next page, with greater ids',
    says: /status: expected "pending", got "available"/,
    change: onHeaders((headers) => {
      const link = headers.get('Link')
      if (link !== null) headers.set('Link', link.replace('status=pending&', ''))
    }),
  },
  {
    fault: 'an error has another code',
    rule: 'rejects malformed JSON with 400',
    says: /code: "bad_json".*|expected \{ code: "malformed_json"/,
    change: onText((text) => text.replace('malformed_json', 'bad_json')),
  },
  {
    fault: 'an error has a fourth member',
    rule: 'names every wrong field of a body',
    says: /the body, apart from its message: expected .*, got \{.*trace: "x"/,
    change: onText((text) => text.replace('"code":"invalid_body"', '"code":"invalid_body","trace":"x"')),
  },
  {
    fault: 'HEAD has a body',
    rule: 'responds to HEAD like GET, without the body',
    says: /HEAD \/pets\?limit=1: body: expected "", got "\[/,
    change: onResponse((response, { method }) => (method === 'HEAD' ? new Response('[]', response) : undefined)),
  },
]

const rule = (failures: readonly RuleResult[], title: string) => failures.find((failure) => failure.title === title)

describe('petstore check', () => {
  test('petstore check passes every rule against a correct store', async () => {
    const { results, failures } = await checkStore()
    expect(failures).toEqual([])
    expect(results.every(({ result }) => result === 'pass')).toBe(true)
    expect(exitCodeOf(results)).toBe(0)
  })

  test.each(faults)('petstore check fails and exits with 1 if $fault', async ({ rule: title, says, change }) => {
    const { results, failures } = await checkStore(change)
    expect(rule(failures, title)).toMatchObject({ reason: expect.stringMatching(says) })
    expect(exitCodeOf(results)).toBe(1)
  })

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
    expect(rule(failures, 'reads an added animal by its id')?.reason).toMatch(/expected status 200, got 410/)
  })

  test('petstore check skips the 429 and the 403 without their keys, and exits with 0', async () => {
    const { results } = await checkStore(undefined, { limitedKey: undefined, readOnlyKey: undefined })
    const skipped = results.filter(({ result }) => result === 'skip')
    expect(new Set(skipped.map(({ reason }) => reason))).toEqual(
      new Set([
        'needs --limited-key, a key whose limit the check uses up',
        'needs --read-only-key, a key that may only read',
      ]),
    )
    expect(exitCodeOf(results)).toBe(0)
  })

  test('petstore check skips the remaining rules after the daily limit', async () => {
    let count = 0
    const day = { 'Retry-After': '3600', 'Content-Type': 'application/json' }
    const { results, failures } = await checkStore(
      (request, send) => {
        const isOurs = /^Bearer pet_\w+$/.test(request.headers.get('Authorization') ?? '')
        if (isOurs) count += 1
        return isOurs && count > 30 ? new Response('{}', { status: 429, headers: day }) : send(request)
      },
      { limitedKey: undefined, readOnlyKey: undefined },
    )
    expect(failures).toEqual([])
    expect(results.find(({ result }) => result === 'skip')?.reason).toMatch(/has to wait 3600 seconds/)
    expect(count).toBe(31)
    expect(exitCodeOf(results)).toBe(2)
  })

  test('petstore check fails a rule whose request gets no response', async () => {
    const { failures } = await checkStore((request, send) =>
      request.method === 'POST'
        ? Promise.reject(new TypeError('fetch failed', { cause: new Error('reset') }))
        : send(request),
    )
    expect(rule(failures, 'adds an animal, and responds with 201 and its id')?.reason).toBe('POST /pets: reset')
  })

  test('petstore check stops after three rules without a response', async () => {
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
    const options = { fetch, onRule: ({ title }: RuleResult) => titles.push(title) }
    await expect(checkServer(URL_OF_API, { key: token, timeout: 10 }, options)).rejects.toThrow(
      'the server has stopped responding: 3 successive rules got no response within 10 seconds',
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
    expect(() => wholeNumber(range(1, 600))(text)).toThrow(/^Expected a whole number/)
  })
})

describe('a server that does not behave', () => {
  const flags = { key: 'pet_hidden_token', timeout: 10 }

  test('petstore check names the rule at which the server stopped', async () => {
    const store = await createTestPetStore({ plan: 'pro', token: flags.key })
    let isGone = false
    const fetch = async (url: string, init: RequestInit) => {
      if (isGone) throw new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED', message: 'refused' } })
      isGone = String(init.body).includes('[[[[')
      if (isGone) throw new TypeError('fetch failed', { cause: { message: 'other side closed' } })
      return store.fetch(url, init)
    }
    const stoppedAt: string[] = []
    const results = await checkServer(URL_OF_API, flags, { fetch, onStop: (rule) => stoppedAt.push(rule) })
    const failed = results.filter(({ result }) => result === 'fail')
    expect(stoppedAt).toEqual([failed[0]?.title])
    expect(failed).toEqual([expect.objectContaining({ reason: expect.stringContaining('other side closed') })])
    const later = results.slice(results.indexOf(failed[0] as RuleResult) + 1)
    expect(later.filter(({ result }) => result !== 'skip').map(({ result }) => result)).toContain('not run')
    expect(later.filter(({ result }) => result === 'pass' || result === 'fail')).toEqual([])
    expect(exitCodeOf(results)).toBe(1)
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
