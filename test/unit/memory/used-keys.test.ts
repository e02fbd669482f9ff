import fc from 'fast-check'
import { expect, test } from 'vitest'
import { memory } from '../../../src/index.ts'
import { usedKeys } from '../../../src/memory/used-keys.ts'
import { hashIdempotency, KEY_PERIOD, MAX_KEYS } from '../../../src/pets/used-keys.ts'

const idempotency = (key: string, now = 0, scope = 'account:acme') => ({ scope, key, fingerprint: '1  Rex', now })

/** Returns the list of used keys with a function that finds a key, and uses it at position 0 if it is not known. */
function start() {
  const used = usedKeys()
  return (key: string | number, position = 0, now = 0, scope = 'account:acme') =>
    used.use(scope, String(key), position, now)
}

test('a full scope loses its oldest keys, and only this scope', () => {
  const use = start()
  use('other', 7, 0, 'key:7')
  for (let i = 0; i < MAX_KEYS + 2; i++) use(i, i)
  expect(use('other', 9, 0, 'key:7')).toBe(7)
  expect([2, MAX_KEYS + 1, 1, 0].map((key) => use(key))).toEqual([2, MAX_KEYS + 1, undefined, undefined])
})

test('a key that was used again after its end is known for 24 hours more', () => {
  const use = start()
  use('a', 1, 0)
  use('a', 2, KEY_PERIOD)
  for (let i = 0; i < 10; i++) use(i, 3, KEY_PERIOD)
  expect(use('a', 4, 2 * KEY_PERIOD - 1)).toBe(2)
})

test('new keys of any scope remove the expired keys of all scopes', () => {
  const use = start()
  for (let i = 0; i < 100; i++) use(i, 1, 0, `key:${i % 10}`)
  for (let i = 0; i < 100; i++) use(`new-${i}`, 2, KEY_PERIOD)
  // A removed key is also unknown after the clock steps back. Otherwise, it would be known again.
  const left = Array.from({ length: 100 }, (_, i) => use(i, 3, 0, `key:${i % 10}`))
  expect(left).toEqual(Array(100).fill(undefined))
})

test('scopes without keys do not delay the removal of expired keys', () => {
  const use = start()
  for (let i = 0; i < 100; i++) use('a', 1, 0, `key:${i}`)
  for (let i = 0; i < 150; i++) use(i, 2, KEY_PERIOD)
  // 75 new keys remove 150 expired keys, if no step is lost with the other 100 scopes.
  for (let i = 0; i < 80; i++) use(`new-${i}`, 3, 2 * KEY_PERIOD)
  const left = Array.from({ length: 150 }, (_, i) => use(i, 4, KEY_PERIOD))
  expect(left).toEqual(Array(150).fill(undefined))
})

test('keys that end while others begin are found like in a plain list', () => {
  const call = fc.record({
    scope: fc.constantFrom('a', 'b'),
    key: fc.integer({ min: 0, max: 3_000 }),
    after: fc.constantFrom(0, 1, KEY_PERIOD / 1_000),
  })
  const property = fc.property(fc.array(call, { minLength: 9_000, maxLength: 9_000 }), (calls) => {
    const use = start()
    const plain = new Map<string, { position: number; endsAt: number }>()
    let now = 0
    for (const [position, { scope, key, after }] of calls.entries()) {
      now += after
      const name = `${scope} ${key}`
      const known = plain.get(name)
      const expected = known !== undefined && known.endsAt > now ? known.position : undefined
      if (expected === undefined) plain.set(name, { position, endsAt: now + KEY_PERIOD })
      if (use(key, position, now, scope) !== expected) throw new Error(`call ${position} differs`)
    }
  })
  fc.assert(property, { numRuns: 5, endOnFailure: true })
})

test('the storage in memory keeps keys of any name', async () => {
  const { storage } = memory()
  const pet = { name: 'Rex', categoryId: 1n }
  for (const key of ['__proto__', 'constructor']) {
    expect(await storage.create(pet, { idempotency: idempotency(key) })).not.toHaveProperty('earlier')
    expect(await storage.create(pet, { idempotency: idempotency(key) })).toHaveProperty('earlier', 'same')
  }
})

test('hashIdempotency differs wherever scope, key or fingerprint differ', async () => {
  const hashes = await Promise.all(
    [
      idempotency('c', 0, 'a:b'),
      idempotency('b:c', 0, 'a'),
      idempotency('c', 9, 'a:b'),
      { ...idempotency('c', 0, 'a:b'), fingerprint: '2' },
    ].map(hashIdempotency),
  )
  const [one, shifted, later, changed] = hashes
  expect(one?.key).toMatch(/^[0-9a-f]{64}$/)
  expect(shifted?.key).not.toBe(one?.key)
  expect(later).toEqual(one)
  expect(changed?.key).toBe(one?.key)
  expect(changed?.fingerprint).not.toBe(one?.fingerprint)
})
