import { expect, test } from 'vitest'
import { memory } from '../../../src/index.ts'
import { usedKeys } from '../../../src/memory/used-keys.ts'
import { hashIdempotency, KEY_PERIOD, MAX_KEYS } from '../../../src/pets/used-keys.ts'

const use = (key: string | number, now = 0, scope = 'account:acme') => ({
  scope,
  key: String(key),
  fingerprint: '1  Rex',
  now,
})

test('a full scope loses its oldest keys, and only this scope', () => {
  const used = usedKeys()
  used.add(use('other', 0, 'key:7'), 1n)
  for (let i = 0; i < MAX_KEYS + 2; i++) used.add(use(i), 2n)
  expect([0, 1, 2, MAX_KEYS + 1].map((key) => used.find(use(key)) !== undefined)).toEqual([false, false, true, true])
  expect(used.find(use('other', 0, 'key:7'))).toBeDefined()
})

test('a key that was used again after its end is known for 24 hours more', () => {
  const used = usedKeys()
  used.add(use('a', 0), 1n)
  used.add(use('a', KEY_PERIOD), 2n)
  for (let i = 0; i < 10; i++) used.add(use(i, KEY_PERIOD), 3n)
  expect(used.find(use('a', 2 * KEY_PERIOD - 1))?.petId).toBe(2n)
})

test('new keys of any scope remove the expired keys of all scopes', () => {
  const used = usedKeys()
  for (let i = 0; i < 100; i++) used.add(use(i, 0, `key:${i % 10}`), 1n)
  // A removed key is also unknown after the clock steps back. Otherwise, it would be known again.
  for (let i = 0; i < 100; i++) used.add(use(`new-${i}`, KEY_PERIOD), 2n)
  const left = Array.from({ length: 100 }, (_, i) => used.find(use(i, 0, `key:${i % 10}`))).filter(Boolean)
  expect(left).toEqual([])
})

test('the storage in memory keeps keys of any name', async () => {
  const { storage } = memory()
  const pet = { name: 'Rex', categoryId: 1n }
  for (const key of ['__proto__', 'constructor']) {
    expect(await storage.create(pet, { idempotency: use(key) })).not.toHaveProperty('earlier')
    expect(await storage.create(pet, { idempotency: use(key) })).toHaveProperty('earlier', 'same')
  }
})

test('hashIdempotency differs wherever scope, key or fingerprint differ', async () => {
  const hashes = await Promise.all(
    [use('c', 0, 'a:b'), use('b:c', 0, 'a'), use('c', 9, 'a:b'), { ...use('c', 0, 'a:b'), fingerprint: '2' }].map(
      hashIdempotency,
    ),
  )
  const [one, shifted, later, changed] = hashes
  expect(one?.key).toMatch(/^[0-9a-f]{64}$/)
  expect(shifted?.key).not.toBe(one?.key)
  expect(later).toEqual(one)
  expect(changed?.key).toBe(one?.key)
  expect(changed?.fingerprint).not.toBe(one?.fingerprint)
})
