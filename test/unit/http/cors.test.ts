import * as fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { corsRules } from '../../../src/http/cors.ts'
import { type CorsOptions, createPetStore } from '../../../src/index.ts'

const SHOP = 'https://shop.example'
const PREVIEWS = 'https://pr-*.preview.shop.example'

/** Returns a function that sends a request of an origin, and returns the CORS headers of the response. */
function startStore(cors: CorsOptions) {
  const onError = vi.fn()
  const { fetch } = createPetStore({ cors, onError })
  const send = async (origin: string | undefined, method = 'GET') => {
    const headers = new Headers(method === 'OPTIONS' ? { 'access-control-request-method': 'POST' } : {})
    if (origin !== undefined) headers.set('origin', origin)
    const response = await fetch(new Request('http://localhost/v1/pets', { method, headers }))
    return {
      status: response.status,
      allowed: response.headers.get('access-control-allow-origin'),
      vary: response.headers.get('vary'),
      hasCredentials: response.headers.has('access-control-allow-credentials'),
    }
  }
  return { send, onError }
}

describe('a wildcard in a list', () => {
  const isAllowed = (pattern: string, origin: string) => {
    const rules = corsRules({ origins: [pattern] })
    return rules !== false && rules.isAllowed(origin)
  }

  test.each([
    [PREVIEWS, 'https://pr-7.preview.shop.example'],
    [PREVIEWS, 'https://pr-a-b.preview.shop.example'],
    ['https://*.shop.example', 'https://www.shop.example'],
    ['https://*.shop.example', 'https://xn--bcher-kva.shop.example'],
    ['https://*-shop.pages.example', 'https://7-shop.pages.example'],
    ['https://a*z.shop.example', 'https://abz.shop.example'],
    ['https://*.*.shop.example', 'https://a.b.shop.example'],
    ['http://*.shop.example:8080', 'http://a.shop.example:8080'],
  ])('%s permits %s', (pattern, origin) => {
    expect(isAllowed(pattern, origin)).toBe(true)
  })

  test.each([
    [PREVIEWS, 'https://pr-.preview.shop.example'],
    [PREVIEWS, 'https://pr-7.8.preview.shop.example'],
    [PREVIEWS, 'http://pr-7.preview.shop.example'],
    [PREVIEWS, 'https://pr-7.preview.shop.example:8443'],
    [PREVIEWS, 'https://pr-7.preview.shop.example.evil.example'],
    [PREVIEWS, 'https://evil.example/https://pr-7.preview.shop.example'],
    ['https://*.shop.example', 'https://shop.example'],
    ['https://*.shop.example', 'https://evil-shop.example'],
    ['https://*.shop.example', 'https://evil:1@a.shop.example'],
    ['https://*.shop.example', 'https://evil/.shop.example'],
    ['https://*.shop.example', 'https://WWW.shop.example'],
    ['https://a*a.shop.example', 'https://a.shop.example'],
    ['http://*.shop.example:8080', 'http://a.shop.example'],
    ['http://*.shop.example:8080', 'http://a.shop.example:80801'],
  ])('%s does not permit %s', (pattern, origin) => {
    expect(isAllowed(pattern, origin)).toBe(false)
  })

  test('a wildcard matches as a plain regular expression does', () => {
    const label = fc.string({ unit: fc.constantFrom('a', 'b', '-', '_', '1', ':', '/', '@', 'A'), maxLength: 4 })
    const part = fc.oneof(
      label,
      fc.tuple(label, label).map((parts) => parts.join('*')),
    )
    const joined = fc.array(part, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'))
    fc.assert(
      fc.property(
        joined,
        fc.array(label, { maxLength: 4 }),
        fc.array(label, { maxLength: 4 }),
        (pattern, fill, other) => {
          const [...fills] = fill
          const similar = pattern.replaceAll('*', () => fills.pop() ?? 'x')
          const model = new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '[a-z0-9_-]+')}$`)
          for (const origin of [similar, other.join('.')]) expect(isAllowed(pattern, origin)).toBe(model.test(origin))
        },
      ),
    )
  })

  test.each([
    'https://*',
    'https://*.com',
    'https://shop.*',
    'https://*.*',
    'https://a*.example',
    'https://*.example.',
    'https://*.example.:8443',
    'http://*.localhost:3000',
  ])('%s is refused as too broad', (origin) => {
    expect(() => createPetStore({ cors: { origins: [origin] } })).toThrow(
      'option cors.origins[0]: expected an origin without "*" in its last two labels, ',
    )
  })

  test.each([
    '*',
    '*://a.shop.example',
    'https://**.shop.example',
    'https://a.shop.example:*',
    'https://*.shop.example/',
    'https://*.Shop.example',
    'https://*@a.shop.example',
    'https://*.168.0.1',
  ])('%s is refused', (origin) => {
    expect(() => createPetStore({ cors: { origins: [SHOP, origin] } })).toThrow(
      'option cors.origins[1]: expected an origin such as "https://shop.example", ',
    )
  })
})

describe('a function', () => {
  test('the function decides about each origin', async () => {
    const { send, onError } = startStore({ origins: (origin) => origin.endsWith('.example') })
    expect((await send(SHOP)).allowed).toBe(SHOP)
    expect((await send('https://shop.test')).allowed).toBe(null)
    expect(onError).not.toHaveBeenCalled()
  })

  test.each(['null', 'shop.example', 'https://shop.example/', 'HTTPS://shop.example', 'https://%'])(
    'the function does not get %s, which is refused',
    async (origin) => {
      const origins = vi.fn(() => true)
      expect((await startStore({ origins }).send(origin)).allowed).toBe(null)
      expect(origins).not.toHaveBeenCalled()
    },
  )

  test('the function is not called without an origin', async () => {
    const origins = vi.fn(() => true)
    await startStore({ origins }).send(undefined)
    expect(origins).not.toHaveBeenCalled()
  })

  test('an error in the function refuses the origin, and is reported with its request', async () => {
    const error = new Error('broken')
    const { send, onError } = startStore({
      origins() {
        throw error
      },
    })
    expect(await send(SHOP)).toMatchObject({ status: 401, allowed: null, vary: 'Origin' })
    expect(onError).toHaveBeenCalledExactlyOnceWith(error, expect.objectContaining({ method: 'GET' }))
  })

  test.each([
    ['a promise', () => Promise.resolve(true)],
    ['a promise', () => Promise.reject(new Error('broken'))],
    ['undefined', () => undefined],
    ['an array', () => ['match']],
  ])('%s as its result refuses the origin, and is reported', async (_, origins) => {
    const { send, onError } = startStore({ origins: origins as never })
    expect((await send(SHOP, 'OPTIONS')).allowed).toBe(null)
    expect(onError).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ code: 'invalid_option', message: expect.stringContaining('cors.origins') }),
      expect.anything(),
    )
  })
})

describe('Vary', () => {
  const lists: readonly [string, CorsOptions][] = [
    ['a list', { origins: [SHOP] }],
    ['a wildcard', { origins: [PREVIEWS] }],
    ['a function', { origins: (origin) => origin === SHOP }],
    ['an empty list', { origins: [] }],
  ]

  test.each(lists)('with %s, every response varies by origin', async (_, cors) => {
    const { send } = startStore(cors)
    for (const origin of [undefined, SHOP, 'https://other.example'])
      for (const method of ['GET', 'OPTIONS']) expect((await send(origin, method)).vary).toBe('Origin')
  })

  test('with *, no response varies', async () => {
    const { send } = startStore({ origins: '*' })
    for (const method of ['GET', 'OPTIONS'])
      expect(await send(SHOP, method)).toMatchObject({ allowed: '*', vary: null })
  })
})

describe('credentials', () => {
  test('a function may permit cookies', async () => {
    const { send } = startStore({ origins: (origin) => origin === SHOP, credentials: true })
    for (const method of ['GET', 'OPTIONS']) {
      expect(await send(SHOP, method)).toMatchObject({ allowed: SHOP, hasCredentials: true })
      expect(await send('https://other.example', method)).toMatchObject({ allowed: null, hasCredentials: false })
    }
  })

  test('a wildcard with credentials is an error', () => {
    expect(() => createPetStore({ cors: { origins: [SHOP, PREVIEWS], credentials: true } })).toThrow(
      'option cors.origins: expected a list without "*" or a function, because credentials is true',
    )
  })
})
