import { describe, expect, test, vi } from 'vitest'
import {
  type BanRule,
  createPetStore,
  type MemoryOptions,
  memory,
  PetStoreError,
  type PetStoreOptions,
} from '../../src/index.ts'

const STORE_OPTIONS =
  'storage, keyStore, quota, clock, basePath, publicUrl, plans, anonymous, ipv6Prefix, ban, defaultStatus, maxNameLength, ' +
  'bodyLimit, timeout, readOnly, standardRateLimitHeaders, requestId, cors, sunset, onQuotaFailure, onError, onResponse, onPetCreated, onLimit, warnAt'

/** Pairs: the name of an option in the error message, and an invalid value for this option. */
const nonsense: [string, unknown][] = [
  ['storage', {}],
  ['storage', null],
  ...['list', 'create', 'get'].map((method): [string, unknown] => [
    'storage',
    { ...memory().storage, [method]: undefined },
  ]),
  ['keyStore', { find: 'x' }],
  ['keyStore', ['a token']],
  ['quota', () => {}],
  ['clock', Date.now],
  ['basePath', 'v1'],
  ['basePath', '/v1?x'],
  ['basePath', '/v1//x'],
  ['basePath', '/a%20b'],
  ['basePath', 7],
  ['publicUrl', '/v1'],
  ['publicUrl', 'ftp://x'],
  ['publicUrl', 'https://x?y'],
  ['publicUrl', 'https://'],
  ['publicUrl', 'https://a b'],
  ['publicUrl', 'https://u\\h'],
  ['plans.free.perDay', { free: { perMinute: 1 } }],
  ['plans.free', { free: 60 }],
  ['plans.free', { free: undefined }],
  ['plans.free.perHour', { free: { perMinute: 1, perDay: 1, perHour: 1 } }],
  ['plans.gold.perMinute', { gold: { perMinute: 0, perDay: 1 } }],
  ['plans.close.perDay', { close: { perMinute: 1, perDay: 0 } }],
  ['plans', 'free'],
  ['ipv6Prefix', 31],
  ['anonymous.perMinute', { perMinute: 1.5, perDay: 1 }],
  ['anonymous.perMinute', { perDay: 1 }],
  ['ban', true],
  ['ban.seconds', { seconds: 0 }],
  ['ban.afterRefusals', { afterRefusals: '3' }],
  ['ban.afterRefusals', { afterRefusals: 0 }],
  ['defaultStatus', 'lost'],
  ['bodyLimit', 0],
  ['bodyLimit', '64k'],
  ['timeout', -1],
  ['timeout', Number.POSITIVE_INFINITY],
  ['timeout', 2 ** 31],
  ['readOnly', 'yes'],
  ['requestId', 'yes'],
  ['standardRateLimitHeaders', 'draft-11'],
  ['cors', 'yes'],
  ['cors.origins', { origins: 'https://a.example' }],
  ['cors.origins[0]', { origins: ['https://a.example/'] }],
  ['cors.origins[0]', { origins: ['https://*.example'] }],
  ['cors.origins[0]', { origins: ['null'] }],
  ['cors.origins[0]', { origins: ['HTTPS://a.example'] }],
  ['cors.origins[0]', { origins: ['https://u@a.example'] }],
  ['cors.origins[0]', { origins: [undefined] }],
  ['cors.maxAgeSeconds', { maxAgeSeconds: -1 }],
  ['cors.credentials', { origins: ['https://a.example'], credentials: 'include' }],
  ['cors.origins', { credentials: true }],
  ['cors.origins', { origins: '*', credentials: true }],
  ['cors.origins', { origins: /shop/ }],
  ['cors.origin', { origin: ['https://a.example'] }],
  ['ban.afterRefusal', { afterRefusal: 3 }],
  ['ban.afterRefusal', { seconds: 5, afterRefusal: 3 }],
  ['cors.origins[1]', { origins: ['https://a.example', 'https://b.example/'] }],
  ['basePath', '/.'],
  ['publicUrl', 'xhttp://x'],
  ['ban', []],
  ['plans', []],
  ['plans', new Map([['free', { perMinute: 1, perDay: 1 }]])],
  ['basePath', '/..'],
  ['publicUrl', 'https://u:p@h/v1'],
  ['publicUrl', 'https://u\\@h'],
  ['publicUrl', 'https:///h'],
  ['publicUrl', new URL('https://h')],
  ['sunset', 'later'],
  ['onQuotaFailure', 'panic'],
  ['onError', {}],
  ['onResponse', 'log'],
  ['onPetCreated', true],
  ['onLimit', {}],
  ['warnAt', 0],
  ['warnAt', 1.1],
  ['warnAt', Number.NaN],
  ['warnAt', '0.8'],
  ['storge', memory().storage],
  ['toString', 1],
]

const optionOf = (place: string) => place.replace(/\..*/, '')

const startOf = (place: string) => `option ${place}: expected `

describe('a wrong option', () => {
  test.each(nonsense)('a wrong option is named in the error: %s: %j', (place, value) => {
    const create = () => createPetStore({ [optionOf(place)]: value } as PetStoreOptions)
    expect(create).toThrow(PetStoreError)
    expect(create).toThrow(startOf(place))
    expect(create).toThrow(
      expect.objectContaining({
        code: 'invalid_option',
        message: expect.stringMatching(/^option .+: expected .+, got .+/),
      }),
    )
  })

  test.each(nonsense.slice(0, -2))('a wrong option is rejected even if inherited: %s: %j', (place, value) => {
    const name = optionOf(place)
    class Config {}
    Object.defineProperty(Config.prototype, name, { get: () => value })
    for (const options of [Object.create({ [name]: value }), new Config()])
      expect(() => createPetStore(options)).toThrow(startOf(place))
  })

  test('inherited options and getters are read, also in nested options', async () => {
    class Cors {
      get origins() {
        return ['https://a.example']
      }
    }
    const keyStore = { find: () => ({ id: 'a', plan: 'free' }) }
    const ban = Object.create({ afterRefusals: 1, seconds: 500 })
    const plans = { free: { perMinute: 1, perDay: 9 } }
    const { basePath, fetch } = createPetStore(
      Object.create({ cors: new Cors(), ban, basePath: '/x', keyStore, plans }),
    )
    expect(basePath).toBe('/x')
    const headers = { origin: 'https://b.example', authorization: 'Bearer x' }
    const ask = () => fetch(new Request('http://a/x/pets', { headers }))
    expect((await ask()).headers.get('access-control-allow-origin')).toBeNull()
    await ask()
    expect((await ask()).headers.get('retry-after')).toBe('500')
  })

  test('accepts options that are undefined, and a back end that has further members', () => {
    const left = Object.fromEntries(nonsense.slice(0, -2).map(([place]) => [optionOf(place), undefined]))
    expect(() => createPetStore(left)).not.toThrow()
    expect(() =>
      createPetStore({ ...memory(), migrate: async () => {}, close: () => {} } as PetStoreOptions),
    ).not.toThrow()
  })
})

test('rejects a promise instead of options', () => {
  const message = 'option options: expected a plain object, got a promise'
  expect(() => createPetStore(Promise.resolve(memory()) as never)).toThrow(message)
  const keyStore = Promise.resolve(memory().keyStore) as never
  expect(() => createPetStore({ keyStore })).toThrow('option keyStore: expected an object with find, got a promise')
  const cors = Promise.resolve({ maxAgeSeconds: 60 }) as never
  expect(() => createPetStore({ cors })).toThrow(
    'option cors: expected true, false or { origins, credentials, headers, maxAgeSeconds }, got a promise',
  )
})

describe('the options of memory()', () => {
  test.each([
    ['clock', 5],
    ['maxCustomers', 0],
    ['maxAddresses', '9'],
    ['maxCustomer', 1],
  ])('a wrong option is named in the error: %s: %j', (name, value) => {
    expect(() => memory({ [name]: value } as MemoryOptions)).toThrow(
      expect.objectContaining({ code: 'invalid_option', message: expect.stringMatching(`^option ${name}: expected `) }),
    )
  })

  test('memory(null) and issue(undefined) throw invalid_option', async () => {
    const wrong = { code: 'invalid_option' }
    expect(() => memory(null as never)).toThrow(expect.objectContaining(wrong))
    await expect(memory().keyStore.issue(undefined as never)).rejects.toMatchObject(wrong)
  })

  test('freezes the limits of an issued key', async () => {
    const { key } = await memory().keyStore.issue({ plan: 'pro', limits: { perMinute: 1, perDay: 2 } })
    expect([Object.isFrozen(key), Object.isFrozen(key.limits)]).toEqual([true, true])
  })
})

test('the error about an option describes the received value', () => {
  expect(() => createPetStore({ bodyLimit: 0 })).toThrow(
    'option bodyLimit: expected a whole number from 1 to 2^53-1, got the number 0',
  )
  expect(() => createPetStore({ storage: {} as never })).toThrow(
    'option storage: expected an object with list, create, get, got an object',
  )
  expect(() => createPetStore({ plans: { gold: { perMinute: 60, perDay: 0 } } })).toThrow(
    'option plans.gold.perDay: expected a whole number from 1 to 2^53-1, got the number 0',
  )
  expect(() => createPetStore({ ban: { afterRefusal: 3 } as Partial<BanRule> })).toThrow(
    'option ban.afterRefusal: expected one of the options afterRefusals, seconds, got the number 3; did you mean ban.afterRefusals?',
  )
  expect(() => createPetStore({ keystore: memory().keyStore } as object)).toThrow(
    /^option keystore: expected .*, got an object; did you mean keyStore\?$/,
  )
  expect(() => createPetStore({ ban: { hours: 3 } as Partial<BanRule> })).toThrow(
    /^option ban\.hours: expected one of the options afterRefusals, seconds, got the number 3$/,
  )
})

test.each([-1, 253_402_300_800_000, Number.NaN])(
  'responds with 500 and calls onError if the clock returns %s',
  async (now) => {
    const onError = vi.fn()
    const petStore = createPetStore({ clock: { now: () => now }, onError })
    expect((await petStore.fetch('http://localhost/v1/pets')).status).toBe(500)
    const message = expect.stringMatching(/^option clock: expected .* from 1970 to 9999, got the number /)
    expect(onError).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ message }), expect.anything())
  },
)

test('the error about several options names each of them', () => {
  expect(() => createPetStore({ bodyLimit: 0, timeot: 5, cors: { origins: ['a', '*'] } } as object)).toThrow(
    'option bodyLimit: expected a whole number from 1 to 2^53-1, got the number 0; ' +
      'option cors.origins[0]: expected an origin such as "https://shop.example", in lower case and without a trailing slash, got the string "a"; ' +
      'option cors.origins[1]: expected an origin such as "https://shop.example", in lower case and without a trailing slash, got the string "*"; ' +
      `option timeot: expected one of the options ${STORE_OPTIONS}, got the number 5; did you mean timeout?`,
  )
})

test('the error about several unknown names lists the known ones once', () => {
  const unknown = { colour: 'red', cors: { origin: 1, header: 2 }, timeot: 5 }
  expect(() => createPetStore(unknown as object)).toThrow(
    'option cors.origin: expected one of the options origins, credentials, headers, maxAgeSeconds, got the number 1; did you mean cors.origins?; ' +
      'option cors.header: expected one of these options, got the number 2; did you mean cors.headers?; ' +
      `option colour: expected one of the options ${STORE_OPTIONS}, got the string "red"; ` +
      'option timeot: expected one of these options, got the number 5; did you mean timeout?',
  )
})

describe('a back end with members of its own', () => {
  const backEnd = { ...memory(), dispose() {}, pool: new Map(), name: 'ours' }

  test('is accepted', () => {
    expect(() => createPetStore({ ...backEnd })).not.toThrow()
    expect(() => createPetStore(backEnd)).not.toThrow()
  })

  test('a member whose name resembles an option is reported', () => {
    expect(() => createPetStore({ ...backEnd, timeot: 5, onerror() {} } as object)).toThrow(
      `option timeot: expected one of the options ${STORE_OPTIONS}, got the number 5; did you mean timeout?; ` +
        'option onerror: expected one of these options, got a function; did you mean onError?',
    )
  })

  test('a misspelt port is reported', () => {
    const { storage, keyStore, quota } = memory()
    expect(() => createPetStore({ storage, keystore: keyStore, quota } as object)).toThrow('did you mean keyStore?')
  })

  test('options may be members of a class', () => {
    class Options {
      readonly #basePath = '/shop'
      readonly pool = {}
      readonly keyStore = memory().keyStore
      get basePath() {
        return this.#basePath
      }
    }
    expect(createPetStore(new Options()).basePath).toBe('/shop')
  })
})

describe('options that the caller changes later', () => {
  test('have no effect on a pet store', async () => {
    const free = { perMinute: 2, perDay: 9 }
    const anonymous = { perMinute: 3, perDay: 9 }
    const options = { plans: { free }, anonymous, cors: { origins: ['https://a.example'] } }
    const { fetch, keyStore } = createPetStore(options)
    const { token } = await keyStore.issue({ plan: 'free' })
    Object.assign(free, { perMinute: 'many' })
    Object.assign(anonymous, { perMinute: Number.NaN })
    options.cors.origins[0] = 'https://evil.example'
    const limitOf = async (headers: Record<string, string>) =>
      (await fetch('http://a/v1/pets', { headers })).headers.get('x-ratelimit-limit')
    expect(await limitOf({})).toBe('3')
    expect(await limitOf({ authorization: `Bearer ${token}` })).toBe('2')
    const response = await fetch('http://a/v1/pets', { headers: { origin: 'https://evil.example' } })
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
  })

  test('have no effect on a key whose limits were updated', async () => {
    const { keyStore } = memory()
    const { key, token } = await keyStore.issue({ plan: 'free' })
    const limits = { perMinute: 5, perDay: 50 }
    const updated = await keyStore.update(key.id, { limits })
    limits.perMinute = -1
    expect(await keyStore.find(token)).toMatchObject({ limits: { perMinute: 5, perDay: 50 } })
    expect(Object.isFrozen(updated?.limits)).toBe(true)
  })
})
