import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Clock, memory } from '../../../src/index.ts'
import { usedKeys } from '../../../src/memory/used-keys.ts'
import { hashIdempotency, KEY_PERIOD } from '../../../src/pets/idempotency.ts'
import { manualClock } from '../../../src/testing/index.ts'

const idempotency = (key: string, scope = 'account:acme') => ({ scope, key, fingerprint: '1  Rex' })

/** Returns a function that uses a key for an animal. It returns the id of the earlier animal of this key, if there is one. */
function startUsing(clock: Clock) {
  const { use } = usedKeys(clock)
  return (scope: string, key: string, id: number) => {
    const pet = { id: BigInt(id), name: 'Rex', categoryId: 1n, status: 'available' } as const
    const used = use(idempotency(key, scope), () => pet)
    return used.earlier == null ? undefined : Number(used.id)
  }
}

test('usedKeys finds the idempotency keys of two scopes as a Map would', () => {
  const call = fc.record({
    scope: fc.constantFrom('a', 'b'),
    key: fc.integer({ min: 0, max: 300 }),
    after: fc.constantFrom(0, 1, KEY_PERIOD / 100),
  })
  const property = fc.property(fc.array(call, { minLength: 1_000, maxLength: 1_000 }), (calls) => {
    const clock = manualClock()
    const use = startUsing(clock)
    const plain = new Map<string, { position: number; endsAt: number }>()
    for (const [position, { scope, key, after }] of calls.entries()) {
      clock.advance(after)
      const name = `${scope} ${key}`
      const known = plain.get(name)
      const expected = known !== undefined && known.endsAt > clock.now() ? known.position : undefined
      if (expected === undefined) plain.set(name, { position, endsAt: clock.now() + KEY_PERIOD })
      const found = use(scope, String(key), position)
      if (found !== expected) throw new Error(`call ${position} differs`)
    }
  })
  fc.assert(property, { numRuns: 20 })
})

test('keeps 200,000 unexpired idempotency keys', () => {
  const use = startUsing(manualClock())
  for (let i = 0; i < 200_000; i++) use('account:acme', String(i), i)
  expect([0, 1, 199_999].map((key) => use('account:acme', String(key), -1))).toEqual([0, 1, 199_999])
})

test('a key from the future does not block the removal of expired keys', () => {
  const clock = manualClock()
  const use = startUsing(clock)
  clock.advance(10 * KEY_PERIOD)
  use('a', 'ahead', 1)
  clock.advance(-10 * KEY_PERIOD)
  use('a', 'old', 2)
  clock.advance(KEY_PERIOD)
  use('a', 'new', 3)
  // The expired key has been removed, so it is unknown even after the clock steps back.
  clock.advance(-1)
  expect(use('a', 'old', 4)).toBeUndefined()
})

test('a key that is at most one period ahead is kept after the clock steps back', () => {
  const clock = manualClock(KEY_PERIOD)
  const use = startUsing(clock)
  use('a', 'ahead', 1)
  clock.set(0)
  expect(use('a', 'ahead', 2)).toBe(1)
})

test('a key has expired although a valid key is in front of it', () => {
  const clock = manualClock(KEY_PERIOD)
  const use = startUsing(clock)
  use('a', 'ahead', 1)
  clock.set(0)
  use('a', 'behind', 2)
  clock.set(KEY_PERIOD - 1)
  expect(use('a', 'behind', 3)).toBe(2)
  clock.set(KEY_PERIOD)
  expect(use('a', 'behind', 4)).toBeUndefined()
})

test('the storage in memory accepts __proto__ as an idempotency key', async () => {
  const { storage } = memory()
  const pet = { name: 'Rex', categoryId: 1n, status: 'available' } as const
  for (const key of ['__proto__', 'constructor']) {
    expect(await storage.create(pet, { idempotency: idempotency(key) })).not.toHaveProperty('earlier')
    expect(await storage.create(pet, { idempotency: idempotency(key) })).toHaveProperty('earlier', 'same')
  }
})

test('hashIdempotency returns different hashes for different scopes, keys and fingerprints', async () => {
  const hashes = await Promise.all(
    [idempotency('c', 'a:b'), idempotency('b:c', 'a'), { ...idempotency('c', 'a:b'), fingerprint: '2' }].map(
      hashIdempotency,
    ),
  )
  const [one, shifted, changed] = hashes
  expect(one?.key).toMatch(/^[0-9a-f]{64}$/)
  expect(shifted?.key).not.toBe(one?.key)
  expect(changed?.key).toBe(one?.key)
  expect(changed?.fingerprint).not.toBe(one?.fingerprint)
})
