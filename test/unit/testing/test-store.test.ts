import { build } from 'esbuild'
import { describe, expect, test } from 'vitest'
import { memory } from '../../../src/index.ts'
import { createTestPetStore, manualClock } from '../../../src/testing/index.ts'

test.each(['storage', 'keyStore', 'quota'] as const)(
  'a test pet store has a %s of its own, and takes no other',
  async (name) => {
    await expect(createTestPetStore({ [name]: memory()[name] })).rejects.toMatchObject({
      code: 'invalid_option',
      message: `option ${name}: expected none, because a test store has its own, got an object`,
    })
  },
)

test.each([null, 5, [], new Map()])('%j are no options of a test pet store', async (options) => {
  await expect(createTestPetStore(options as never)).rejects.toMatchObject({
    code: 'invalid_option',
    message: expect.stringMatching(/^option options: expected a plain object, got /),
  })
})

test('options of a test pet store may be inherited', async () => {
  const options = Object.create({ basePath: '/x', clock: manualClock(5) })
  const { basePath, clock } = await createTestPetStore(options)
  expect([basePath, clock.now()]).toEqual(['/x', 5])
})

test.each([Number.NaN, Number.POSITIVE_INFINITY, '1 January' as never])('%s is no time', (time) => {
  const wrong = expect.objectContaining({ code: 'invalid_option' })
  const clock = manualClock(5)
  expect(() => manualClock(time)).toThrow(wrong)
  expect(() => clock.set(time)).toThrow(wrong)
  expect(() => clock.advance(time)).toThrow(wrong)
  expect(clock.now()).toBe(5)
})

describe('a request of a test', () => {
  test('follows a Link as it stands, from page to page', async () => {
    const { request } = await createTestPetStore({ basePath: '/shop/v1' })
    for (let i = 0; i < 3; i++) await request('/pets', { method: 'POST', body: '{"name":"Rex","categoryId":1}' })
    const first = await request('/pets?limit=2')
    const [, next = ''] = /<(.+)>/.exec(first.headers.get('link') ?? '') ?? []
    expect(next).toMatch(/^\/shop\/v1\/pets\?/)
    for (const target of [next, `https://pets.example${next}`]) {
      const second = await request(target)
      expect([second.status, await second.json()]).toEqual([200, [expect.objectContaining({ id: 3 })]])
    }
    expect((await request('/shop/pets')).status).toBe(404)
    const { request: atRoot } = await createTestPetStore({ basePath: '/' })
    expect([(await atRoot('/pets')).status, (await atRoot('//x/pets')).status]).toEqual([200, 404])
  })

  test.each(['https://pets.example', 'https://Pets.example/shop/', 'https://pets.example/shop/v1'])(
    'follows a Link of a store that clients see at %s',
    async (publicUrl) => {
      const { request, storage } = await createTestPetStore({ publicUrl })
      for (const name of ['Rex', 'Ada']) await storage.create({ name, categoryId: 1n })
      const [, next = ''] = /<(.+)>/.exec((await request('/pets?limit=1')).headers.get('link') ?? '') ?? []
      expect(next).toMatch(/^https:\/\/pets\.example\/.*\?/)
      const second = await request(next)
      expect([second.status, await second.json()]).toEqual([200, [expect.objectContaining({ name: 'Ada' })]])
    },
  )

  test.each([['pets'], [new URL('http://a/v1/pets')], [new Request('http://a/v1/pets')], [undefined]])(
    'goes to a path, which %s is not',
    async (path) => {
      const { request } = await createTestPetStore()
      await expect(async () => request(path as string)).rejects.toMatchObject({
        code: 'invalid_option',
        message: expect.stringMatching(/^option path: expected a path such as "\/pets", got /),
      })
    },
  )

  test('is JSON, unless it says otherwise or its body does', async () => {
    const { request } = await createTestPetStore()
    const animal = '{"name":"Rex","categoryId":1}'
    const post = async (body: RequestInit['body'], headers = {}) =>
      (await request('/pets', { method: 'POST', body, headers })).status
    for (const body of [animal, Buffer.from(animal), new Blob([animal])]) expect(await post(body as string)).toBe(201)
    expect(await post(animal, { 'Content-Type': 'text/plain' })).toBe(415)
    expect(await post(new Blob([animal], { type: 'text/csv' }) as never)).toBe(415)
    expect(await post(new FormData() as never)).toBe(415)
    expect(await post(new URLSearchParams('name=Rex') as never)).toBe(415)
    expect((await request('/pets', { headers: { Authorization: 'Bearer nobody' } })).status).toBe(401)
  })
})

test('what needs no fast-check can be bundled where there is none', async () => {
  const bundled = await build({
    entryPoints: ['src/testing/index.ts'],
    alias: { 'fast-check': 'no-such-package' },
    bundle: true,
    format: 'esm',
    write: false,
    logLevel: 'silent',
  })
  expect(bundled.errors).toEqual([])
})
