import type { Arbitrary } from 'fast-check'
import { KEY_PERIOD } from '../../../pets/idempotency.ts'
import { REX, SOLD } from './arbitraries.ts'
import type { CheckedStorage, CreateOnceCall } from './checked-storage.ts'
import type { FastCheck, Use } from './runner.ts'

const ADA = { ...SOLD, name: 'Ada' } as const
const HOUR = 3_600_000

/** A call, and the time since the previous call in milliseconds. */
type LaterCall = CreateOnceCall & { readonly wait?: number }

/** Returns a test that makes calls one after another. */
function createsOnce(calls: readonly LaterCall[]): Use<CheckedStorage> {
  return async ({ createOnce, setClock, now, list }) => {
    for (const { wait = 0, ...call } of calls) {
      setClock(now() + wait)
      await createOnce(call)
    }
    await list()
  }
}

const LONG_KEY = 'k'.repeat(254)
const HARD_KEYS = ['a', 'A', '"', '\\', "'", '%', '_', `${LONG_KEY}1`, `${LONG_KEY}2`, 'a', `${LONG_KEY}1`]

/** One example for each rule. They are skipped if the storage has no `createOnce`. */
export const idempotencyExamples: Record<string, Use<CheckedStorage>> = {
  'createOnce adds one animal for each idempotency key': createsOnce(
    ['order-1', 'order-1', 'order-2', 'order-1'].map((key) => ({ key })),
  ),
  'concurrent repeats of an idempotency key add one animal': async ({ createOnce, list }) => {
    await createOnce({}, 10)
    await createOnce()
    await list()
  },
  'createOnce reports an idempotency key that was used for another animal': createsOnce(
    [REX, ADA, { ...REX, status: 'available' } as const, { ...REX, categoryId: 2n }, REX].map((pet) => ({ pet })),
  ),
  'each scope has idempotency keys of its own': createsOnce([
    ...['account:acme', 'account:ACME', 'account:acme ', 'key:acme'].map((scope) => ({ scope })),
    { scope: 'account:acmeorder', key: '-1' },
  ]),
  'idempotency keys that differ in one character add separate animals': createsOnce(HARD_KEYS.map((key) => ({ key }))),
  'keeps idempotency keys when the storage is opened again': async ({ createOnce, reopen, list }) => {
    const keys = Array.from({ length: 30 }, (_, i) => `order-${i}`)
    for (const key of keys) await createOnce({ key })
    await reopen()
    for (const key of keys) await createOnce({ key })
    await list()
  },
  'an idempotency key expires after 48 hours': createsOnce(
    [0, KEY_PERIOD - 1, 1, 1, KEY_PERIOD - 2].map((wait) => ({ wait })),
  ),
}

/**
 * With a clock, a storage takes a time in milliseconds. Without one, it takes the time of its
 * engine, which may be in seconds: then a key would expire at once, or never.
 */
export const idempotencyExamplesWithoutClock: Record<string, Use<CheckedStorage>> = {
  'createOnce keeps an idempotency key by the time of the engine too': createsOnce(
    ['order-1', 'order-2', 'order-1', 'order-2'].map((key) => ({ key })),
  ),
}

/**
 * Generates calls that often repeat scopes, keys and animals, with waits after which a key has
 * expired.
 */
export function createOnceCalls(fc: FastCheck): Arbitrary<Use<CheckedStorage>> {
  const call = fc.record({
    pet: fc.constantFrom(REX, ADA),
    scope: fc.constantFrom('account:acme', 'key:7'),
    key: fc.constantFrom('order-1', 'order-2', '~'.repeat(255)),
    wait: fc.constantFrom(0, 0, 0, 1, 11 * HOUR, KEY_PERIOD - 1, KEY_PERIOD),
  })
  return fc.array(call, { minLength: 1, maxLength: 20, size: 'max' }).map(createsOnce)
}
