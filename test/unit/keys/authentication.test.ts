import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { isMistyped, keyChanges, newKey } from '../../../src/back-end.ts'
import { cachedKeyStore, createPetStore, type KeyStore, memory, PetStoreError } from '../../../src/index.ts'
import { isToken68 } from '../../../src/keys/authenticate.ts'
import { startApi } from '../../support/api.ts'

const challengeOf = ({ headers }: { headers: Headers }) => headers.get('www-authenticate')

describe('the Authorization header', () => {
  test.each([
    '',
    'Bearer',
    'Bearer ',
    'Basic abc',
    'Bearer abc',
    'TOKEN extra',
    'Bearer TOKEN extra',
    'Bearer\tTOKEN',
    'Bearer "TOKEN"',
    'Bearer TOKEN, Bearer TOKEN',
    'Bearer=TOKEN',
    'BearerTOKEN',
    'Bearer TOKENé',
    'Bearer =TOKEN',
    'Bearer TOKEN\u0000',
  ])('the Authorization header causes 401 invalid_api_key: %s', async (header) => {
    const { send, token } = await startApi()
    const got = await send('/v1/pets', { headers: { authorization: header.replaceAll('TOKEN', token) } })
    expect(got).toMatchObject({ status: 401, code: 'invalid_api_key' })
    const isBearer = /^bearer(?: |$)/i.test(header)
    expect(challengeOf(got)).toBe(`Bearer realm="petstore"${isBearer ? ', error="invalid_token"' : ''}`)
  })
})

describe('a token that the key store rejects', () => {
  async function rejecting(error: unknown) {
    const onError = vi.fn()
    const onResponse = vi.fn()
    const keyStore: KeyStore = {
      find: async () => {
        throw error
      },
    }
    const anonymous = { perMinute: 2, perDay: 9 }
    const { send } = await startApi({ keyStore, anonymous, onError, onResponse })
    return { send: () => send('/v1/pets', { address: '192.0.2.1' }), onError, onResponse }
  }

  test('gets 403 with the code and the message of the key store', async () => {
    const error = new PetStoreError('account_suspended', 'Pay the "last" invoice.', { status: 403 })
    const { send, onError, onResponse } = await rejecting(error)
    const got = await send()
    expect(got.status).toBe(403)
    expect(got.json).toEqual({ code: 'account_suspended', message: 'Pay the "last" invoice.', status: 403 })
    expect(challengeOf(got)).toBeNull()
    expect(onError).not.toHaveBeenCalled()
    expect(onResponse.mock.calls).toMatchObject([[{ status: 403, code: 'account_suspended', keyId: undefined }]])
  })

  test.each(['token_expired', 'invalid_api_key'])('gets 401 with a challenge: %s', async (code) => {
    const { send, onError } = await rejecting(new PetStoreError(code, 'Log in again.', { status: 401 }))
    const got = await send()
    expect([got.status, got.code, got.message]).toEqual([401, code, 'Log in again.'])
    expect(challengeOf(got)).toBe('Bearer realm="petstore", error="invalid_token"')
    expect(onError).not.toHaveBeenCalled()
  })

  test('is counted by the address of the client', async () => {
    const { send } = await rejecting(new PetStoreError('account_suspended', 'No.', { status: 403 }))
    const got = await send()
    expect([got.headers.get('x-ratelimit-limit'), got.headers.get('x-ratelimit-remaining')]).toEqual(['2', '1'])
    expect((await send()).status).toBe(403)
    expect((await send()).status).toBe(429)
  })

  test.each([
    ['another status', new PetStoreError('account_suspended', 'No.', { status: 402 })],
    ['no status', new PetStoreError('account_suspended', 'No.')],
    ['a code of the API for another status', new PetStoreError('pet_not_found', 'No.', { status: 403 })],
    ['another kind of error', Object.assign(new Error('No.'), { code: 'account_suspended', status: 403 })],
  ])('an error with %s is a fault', async (_, error) => {
    const { send, onError } = await rejecting(error)
    expect(await send()).toMatchObject({ status: 500, code: 'internal_error' })
    expect(onError).toHaveBeenCalledExactlyOnceWith(error, expect.objectContaining({ method: 'GET' }))
  })

  test('a storage must not reject a token', async () => {
    const onError = vi.fn()
    const error = new PetStoreError('account_suspended', 'No.', { status: 403 })
    const list = () => {
      throw error
    }
    const { send } = await startApi({ storage: { ...memory().storage, list }, onError })
    expect((await send('/v1/pets')).status).toBe(500)
    expect(onError).toHaveBeenCalledExactlyOnceWith(error, expect.anything())
  })

  test('cachedKeyStore passes the error of the key store on', async () => {
    const error = new PetStoreError('account_suspended', 'No.', { status: 403 })
    const find = vi.fn(() => Promise.reject(error))
    const { send } = await startApi({ keyStore: cachedKeyStore({ find }) })
    expect([(await send('/v1/pets')).code, (await send('/v1/pets')).code]).toEqual([error.code, error.code])
  })
})

describe('keys', () => {
  test('the checksum of a token detects any mistyped or swapped character', async () => {
    const { keyStore } = memory()
    const { token } = await keyStore.issue({ plan: 'free' })
    expect(token).toMatch(/^pet_[0-9A-Za-z]{49}$/)
    const digit = fc.constantFrom(...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz')
    fc.assert(
      fc.property(fc.integer({ min: 4, max: 52 }), digit, (at, digit) => {
        const mistyped = token.slice(0, at) + digit + token.slice(at + 1)
        expect(isMistyped(mistyped)).toBe(mistyped !== token)
      }),
    )
    fc.assert(
      fc.property(fc.integer({ min: 4, max: 51 }), (at) => {
        const swapped = token.slice(0, at) + token.charAt(at + 1) + token.charAt(at) + token.slice(at + 2)
        expect(isMistyped(swapped)).toBe(swapped !== token)
      }),
    )
  })

  test('revoked and expired keys are rejected', async () => {
    const { send, keyStore, clock, key, token } = await startApi()
    const expiring = await keyStore.issue({ plan: 'free', expiresAt: clock.now() + 1000 })
    expect((await send('/v1/pets', { token: expiring.token })).status).toBe(200)
    clock.advance(999)
    expect((await send('/v1/pets', { token: expiring.token })).status).toBe(200)
    clock.advance(1)
    expect((await send('/v1/pets', { token: expiring.token })).code).toBe('invalid_api_key')
    expect((await send('/v1/pets', { token })).status).toBe(200)
    expect(await keyStore.revoke(key.id)).toBe(true)
    expect((await send('/v1/pets', { token })).code).toBe('invalid_api_key')
    expect(await keyStore.revoke(key.id)).toBe(false)
    expect(await keyStore.revoke('key_of_nobody')).toBe(false)
  })

  test.each([
    [{ plan: '' }, 'plan'],
    [{ plan: undefined as never }, 'plan'],
    [Object.create({ plan: 7 }), 'plan'],
    [{ plan: 'free', limits: { perMinute: 0, perDay: 1 } }, 'limits.perMinute'],
    [{ plan: 'free', limits: { perMinute: 1.5, perDay: 1 } }, 'limits.perMinute'],
    [{ plan: 'free', limits: { perMinute: Number.POSITIVE_INFINITY, perDay: 1 } }, 'limits.perMinute'],
    [{ plan: 'free', account: '' }, 'account'],
    [{ plan: 'free', account: 'a\u0000' }, 'account'],
    [{ plan: 'a\ud800' }, 'plan'],
    [{ plan: 'free', label: 5 as never }, 'label'],
    [{ plan: 'free', label: 'a\u0000' }, 'label'],
    [{ plan: 'free', expiresAt: Number.NaN }, 'expiresAt'],
    [{ plan: 'free', expiresAt: '2030-02-30' }, 'expiresAt'],
    [{ plan: 'free', expiresAt: 1_900_000_000 }, 'expiresAt'],
    [{ plan: 'free', access: 'none' as never }, 'access'],
    [{ plan: 'free', expires: 0 } as never, 'expires'],
  ])('issue rejects the options %j', async (options, name) => {
    const issuing = memory().keyStore.issue(options)
    await expect(issuing).rejects.toThrow(PetStoreError)
    await expect(issuing).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringMatching(`^option ${name}: expected .+, got .+`),
    })
  })

  test("keys can come from the host's own key store", async () => {
    const keyStore: KeyStore = { find: (token) => (token === 'front-desk' ? { id: 'desk', plan: 'pro' } : undefined) }
    const petStore = createPetStore({ keyStore })
    const ask = (token: string) =>
      petStore.fetch(new Request('http://x/v1/pets', { headers: { authorization: `Bearer ${token}` } }))
    expect((await ask('front-desk')).headers.get('x-ratelimit-limit')).toBe('300')
    expect((await ask('back-door')).status).toBe(401)
  })

  test.each([false, '', 0, null])('a token is unknown if find returns %j', async (none) => {
    for (const store of [(own: KeyStore) => own, cachedKeyStore]) {
      const reported: unknown[] = []
      const keyStore = store({ find: async () => none as never })
      const { send } = await startApi({ keyStore, onError: (error) => reported.push(error) })
      const responses = [await send('/v1/pets'), await send('/v1/pets')]
      expect(responses).toEqual(Array(2).fill(expect.objectContaining({ status: 401, code: 'invalid_api_key' })))
      expect(reported).toEqual([])
    }
  })

  test('null and empty members of a key count as missing', async () => {
    const rows = new Map([
      ['alice', { id: 'alice', plan: 'free', account: '', limits: null, expiresAt: null, revokedAt: null }],
      ['bob', { id: 'bob', plan: 'free', account: '', limits: null, expiresAt: null, revokedAt: null }],
      ['carol', { id: 'carol', plan: 'free', account: null, limits: null, expiresAt: null, revokedAt: null }],
      ['gone', { id: 'gone', plan: 'free', account: null, limits: null, expiresAt: null, revokedAt: 5 }],
    ])
    const keyStore = { find: (token: string) => rows.get(token) ?? null } as unknown as KeyStore
    const petStore = createPetStore({ keyStore, plans: { free: { perMinute: 1, perDay: 9 } } })
    const ask = async (token: string) =>
      (await petStore.fetch(new Request('http://x/v1/pets', { headers: { authorization: `Bearer ${token}` } }))).status
    const tokens = ['alice', 'bob', 'carol', 'alice', 'gone', 'eve']
    expect(await Promise.all(tokens.map(ask))).toEqual([200, 200, 200, 429, 401, 401])
  })

  test('the next request counts for the new account of a key', async () => {
    const key = { id: 'desk', plan: 'free', account: 'acme' }
    const petStore = createPetStore({ keyStore: { find: () => key }, plans: { free: { perMinute: 1, perDay: 9 } } })
    const ask = async (account: string) => {
      key.account = account
      return (await petStore.fetch(new Request('http://x/v1/pets', { headers: { authorization: 'Bearer x' } }))).status
    }
    expect([await ask('acme'), await ask('other'), await ask('acme')]).toEqual([200, 200, 429])
  })
})

test('find is called only with tokens in the form of RFC 9110 (token68)', async () => {
  const asked: string[] = []
  const find = (token: string) => void asked.push(token)
  const { send } = await startApi({ keyStore: { find } })
  const tokens = ['azAZ09-._~+/', '+', 'a==', 'a*', 'a=b', '=']
  for (const token of tokens) expect((await send('/v1/pets', { token })).code).toBe('invalid_api_key')
  expect(asked).toEqual(['azAZ09-._~+/', '+', 'a=='])
})

test('the checksum of a token is the same in every release', () => {
  expect(isMistyped(`pet_${'0'.repeat(43)}1kaiHX`)).toBe(false)
  expect(isMistyped(`pet_${'z'.repeat(43)}177I3K`)).toBe(false)
})

test.each(['letmein', 'a==', '-._~+/'])('%s has the form of a token', (token) => {
  expect(isToken68(token)).toBe(true)
})

test.each(['', 'a b', 'é'])('%j does not have the form of a token', (value) => {
  expect(isToken68(value)).toBe(false)
})

test('keyChanges keeps null, which removes a member', () => {
  expect(keyChanges({ plan: 'pro', limits: null })).toEqual([
    ['plan', 'pro'],
    ['limits', null],
  ])
})

describe('newKey', () => {
  test('newKey leaves out members that have no value', async () => {
    const { key } = await newKey({ plan: 'free', label: undefined }, 5)
    expect(key).toStrictEqual({ id: expect.any(String), plan: 'free', createdAt: 5 })
  })

  test('newKey rejects a key without a plan, even with limits', async () => {
    const message = 'option plan: expected the name of a plan, without U+0000 and lone surrogates, got nothing'
    for (const options of [{}, { limits: { perMinute: 1, perDay: 1 } }])
      await expect(newKey(options as never, 5)).rejects.toThrow(new PetStoreError('invalid_option', message))
  })

  test.each([999_999_999, 100_000_000_000])('newKey accepts the expiresAt %i', async (expiresAt) => {
    const { key } = await newKey({ plan: 'free', expiresAt }, 5)
    expect(key.expiresAt).toBe(expiresAt)
  })

  test.each([1_000_000_000, 99_999_999_999])('newKey rejects the expiry %i in seconds', async (expiresAt) => {
    const created = newKey({ plan: 'free', expiresAt }, 5)
    await expect(created).rejects.toThrow('option expiresAt: expected a time such as a Date')
  })
})

describe('a bearer token that is no token68', () => {
  test('is rejected without a look-up, and reported once', async () => {
    const find = vi.fn(() => undefined)
    const onError = vi.fn()
    const { send } = await startApi({ keyStore: { find }, onError })
    for (const token of ['12|secret', 'other secret', '13|secret']) {
      const response = await send('/v1/pets', { token })
      expect([response.status, response.code]).toEqual([401, 'invalid_api_key'])
    }
    expect(find).not.toHaveBeenCalled()
    expect(onError).toHaveBeenCalledOnce()
    expect(onError.mock.calls[0]?.[0]).toMatchObject({
      code: 'malformed_token',
      message: expect.not.stringContaining('secret'),
    })
  })

  test.each(['Bearer', 'Bearer ', 'Bearer a, Bearer b', 'Basic YTpi'])('%s is not reported', async (authorization) => {
    const onError = vi.fn()
    const { send } = await startApi({ onError })
    expect((await send('/v1/pets', { headers: { authorization } })).status).toBe(401)
    expect(onError).not.toHaveBeenCalled()
  })
})
