import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type CreatedPet, memory, type PetStorage } from '../../../src/index.ts'
import { fingerprintOf } from '../../../src/pets/idempotency.ts'
import { startApi } from '../../support/api.ts'

const REX = '{"name":"Rex","categoryId":1}'

/** Starts a store. The returned `addWith` adds an animal with an idempotency key. */
async function start(options: Parameters<typeof startApi>[0] = {}) {
  const api = await startApi({ plan: 'business', ...options })
  const addWith = (key: string, body = REX, sent = {}) =>
    api.add(body, { headers: { 'idempotency-key': key }, ...sent })
  const count = async () => (await api.storage.list({ limit: 1_000 })).length
  return { ...api, addWith, count }
}

describe('the header Idempotency-Key', () => {
  test('the fingerprint of an animal never changes, because databases keep its hash', () => {
    expect(fingerprintOf({ name: 'Rex', categoryId: 1n })).toBe('1  Rex')
    expect(fingerprintOf({ name: 'Rex', categoryId: 1n, status: 'sold' })).toBe('1 sold Rex')
  })

  test('idempotency keys belong to an API key, or to its account', async () => {
    const { addWith, keyStore } = await start()
    const issue = async (account?: string) => (await keyStore.issue({ plan: 'pro', account })).token
    const ids = []
    for (const token of [await issue(), await issue(), await issue('acme'), await issue('acme')])
      ids.push(((await addWith('order-1', REX, { token })).json as { id: number }).id)
    expect(ids).toEqual([1, 2, 3, 3])
  })

  test('a repeat with another defaultStatus gets the animal as it was added', async () => {
    const backEnd = memory()
    const { token } = await backEnd.keyStore.issue({ plan: 'pro' })
    const { addWith } = await start(backEnd)
    const first = await addWith('order-1', REX, { token })
    const later = await start({ ...backEnd, defaultStatus: 'pending' })
    const repeat = await later.addWith('order-1', REX, { token })
    expect(repeat).toMatchObject({ status: 201, text: first.text, json: { status: 'available' } })
  })

  test('an animal that is sent with the default status is another animal', async () => {
    const { addWith } = await start()
    await addWith('order-1')
    const repeat = await addWith('order-1', '{"name":"Rex","categoryId":1,"status":"available"}')
    expect(repeat).toMatchObject({ status: 422, code: 'idempotency_key_reused' })
  })

  test('a failed request does not use up its idempotency key', async () => {
    const { addWith } = await start()
    for (const body of ['{', '{}']) expect((await addWith('order-1', body)).status).toBe(400)
    expect(await addWith('order-1')).toMatchObject({ status: 201, json: { id: 1 } })
  })
})

describe('the form of an idempotency key', () => {
  test.each([
    ['8e03978e-40d5-43dd-bc93-6894a57f9324', '"8e03978e-40d5-43dd-bc93-6894a57f9324"'],
    ['a\\b', '"a\\\\b"'],
    ['"\\""', '"\\""'],
    ['"a b"', '"a b"'],
    ["!#$%&'()*+,-./:;<=>?@[]^_`{|}~", '"!#$%&\'()*+,-./:;<=>?@[]^_`{|}~"'],
    ['x'.repeat(255), `"${'x'.repeat(255)}"`],
  ])('%s and %s are the same idempotency key', async (one, other) => {
    const { addWith, count } = await start()
    for (const header of [one, other]) expect(await addWith(header)).toMatchObject({ status: 201 })
    expect(await count()).toBe(1)
  })

  test.each([
    ['an empty value', ''],
    ['an empty string', '""'],
    ['256 characters', 'x'.repeat(256)],
    ['a string of 256 characters', `"${'x'.repeat(256)}"`],
    ['two headers', 'a, b'],
    ['two strings', '"a", "b"'],
    ['a string with parameters', '"a";x=1'],
    ['a space', 'a b'],
    ['an open string', '"a'],
    ['a quote in a bare key', 'a"b'],
    ['an unknown escape', '"\\a"'],
    ['an escaped end', '"a\\"'],
    ['a character beyond ASCII', 'é'],
    ['a control character', '\u007f'],
  ])('%s gets 400 invalid_idempotency_key', async (_, header) => {
    const { addWith, count } = await start()
    expect(await addWith(header)).toMatchObject({ status: 400, code: 'invalid_idempotency_key' })
    expect(await count()).toBe(0)
  })

  test('the message about a key says what was expected and received', async () => {
    const { addWith } = await start()
    expect((await addWith('a b')).message).toBe(
      'The header Idempotency-Key is not valid: expected 1 to 255 ASCII characters, either without spaces and double quotes ' +
        'or as a string in double quotes such as "8e03978e-40d5-43dd-bc93-6894a57f9324", got the string "a b" of 3 characters.',
    )
  })

  test('every idempotency key of visible characters is valid, and equals its quoted form', async () => {
    const visible = fc.string({
      unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
      minLength: 1,
      maxLength: 255,
    })
    const { addWith } = await start({ plans: { business: { perMinute: 1e6, perDay: 1e6 } } })
    const property = fc.asyncProperty(visible, async (key) => {
      const quoted = `"${key.replaceAll(/["\\]/g, '\\$&')}"`
      const [first, again] = [await addWith(quoted), await addWith(key.includes('"') ? quoted : key)]
      expect(again).toMatchObject({ status: 201, text: first.text })
      expect(again.headers.get('idempotency-replayed')).toBe('true')
    })
    await fc.assert(property)
  })
})

describe('a storage of your own', () => {
  const { storage } = memory()

  test('create gets scope, key, fingerprint, and the context of the request', async () => {
    const seen: unknown[] = []
    const create: PetStorage['create'] = (pet, options, { clientAddress, signal } = {}) => {
      seen.push(options, clientAddress, signal?.aborted)
      return { id: 1n, ...pet }
    }
    const { add, addWith } = await start({ storage: { ...storage, create } })
    await addWith('"order-1"', REX, { address: '192.0.2.1', headers: { 'idempotency-key': '"order-1"' } })
    await add(REX, { address: '192.0.2.1' })
    const idempotency = { scope: expect.stringMatching(/^key:key_/), key: 'order-1', fingerprint: '1  Rex' }
    expect(seen).toEqual([{ idempotency }, '192.0.2.1', false, { idempotency: undefined }, '192.0.2.1', false])
  })

  test.each([null, undefined])('create may return a new animal whose member `earlier` is %s', async (earlier) => {
    const create = (): CreatedPet => ({ id: 1n, name: 'Rex', categoryId: 1n, status: 'available', earlier })
    const { addWith } = await start({ storage: { ...storage, create } })
    const got = await addWith('order-1')
    expect(got.status).toBe(201)
    expect(got.headers.has('idempotency-replayed')).toBe(false)
  })

  test('the member `earlier` means nothing without an idempotency key', async () => {
    const create = (): CreatedPet => ({ id: 1n, name: 'Rex', categoryId: 1n, status: 'available', earlier: 'same' })
    const { add } = await start({ storage: { ...storage, create } })
    expect((await add(REX)).headers.has('idempotency-replayed')).toBe(false)
  })

  test('create causes 500 if the member `earlier` of its result is invalid', async () => {
    const errors: unknown[] = []
    const create = (): CreatedPet => ({
      id: 1n,
      name: 'Rex',
      categoryId: 1n,
      status: 'available',
      earlier: true as never,
    })
    const onError = (error: unknown) => void errors.push(String(error))
    const { addWith } = await start({ onError, storage: { ...storage, create } })
    expect(await addWith('order-1')).toMatchObject({ status: 500 })
    expect(errors).toEqual(['TypeError: storage: the member "earlier" must be "same" or "different", got true'])
  })
})
