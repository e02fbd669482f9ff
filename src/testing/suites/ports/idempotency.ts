import type { Arbitrary } from 'fast-check'
import { KEY_PERIOD } from '../../../pets/idempotency.ts'
import { REX, SOLD } from './arbitraries.ts'
import type { CallWithKey, CheckedStorage } from './checked-storage.ts'
import type { FastCheck, Use } from './runner.ts'

const ADA = { ...SOLD, name: 'Ada' } as const
const HOUR = 3_600_000

/** A call, and the time since the previous call in milliseconds. */
type LaterCall = CallWithKey & { readonly wait?: number }

/** Returns a test that makes calls one after another. */
function createsWithKeys(calls: readonly LaterCall[]): Use<CheckedStorage> {
  return async ({ createWithKey, setClock, now, list }) => {
    for (const { wait = 0, ...call } of calls) {
      setClock(now() + wait)
      await createWithKey(call)
    }
    await list()
  }
}

const LONG_KEY = 'k'.repeat(254)
const HARD_KEYS = ['a', 'A', '"', '\\', "'", '%', '_', `${LONG_KEY}1`, `${LONG_KEY}2`, 'a', `${LONG_KEY}1`]

/** One example for each rule. */
export const idempotencyExamples: Record<string, Use<CheckedStorage>> = {
  'create adds one animal for each idempotency key': createsWithKeys(
    ['order-1', 'order-1', 'order-2', 'order-1'].map((key) => ({ key })),
  ),
  'concurrent repeats of an idempotency key add one animal': async ({ createWithKey, list }) => {
    await createWithKey({}, 10)
    await createWithKey()
    await list()
  },
  'create reports an idempotency key that was used for another animal': createsWithKeys(
    [REX, ADA, { ...REX, status: 'available' } as const, { ...REX, categoryId: 2n }, REX].map((pet) => ({ pet })),
  ),
  'each scope has idempotency keys of its own': createsWithKeys([
    ...['account:acme', 'account:ACME', 'account:acme ', 'key:acme'].map((scope) => ({ scope })),
    { scope: 'account:acmeorder', key: '-1' },
  ]),
  'idempotency keys that differ in one character add separate animals': createsWithKeys(
    HARD_KEYS.map((key) => ({ key })),
  ),
  'keeps idempotency keys when the storage is opened again': async ({ createWithKey, reopen, list }) => {
    const keys = Array.from({ length: 30 }, (_, i) => `order-${i}`)
    for (const key of keys) await createWithKey({ key })
    await reopen()
    for (const key of keys) await createWithKey({ key })
    await list()
  },
  'an idempotency key expires after 48 hours': createsWithKeys(
    [0, KEY_PERIOD - 1, 1, 1, KEY_PERIOD - 2].map((wait) => ({ wait })),
  ),
}

/**
 * With a clock, a storage takes a time in milliseconds. Without one, it takes the time of its
 * engine, which may be in seconds: then a key would expire at once, or never.
 */
export const idempotencyExamplesWithoutClock: Record<string, Use<CheckedStorage>> = {
  'create keeps an idempotency key by the time of the engine too': createsWithKeys(
    ['order-1', 'order-2', 'order-1', 'order-2'].map((key) => ({ key })),
  ),
}

/**
 * Generates calls that often repeat scopes, keys and animals, with waits after which a key has
 * expired.
 */
export function callsWithKeys(fc: FastCheck): Arbitrary<Use<CheckedStorage>> {
  const call = fc.record({
    pet: fc.constantFrom(REX, ADA),
    scope: fc.constantFrom('account:acme', 'key:7'),
    key: fc.constantFrom('order-1', 'order-2', '~'.repeat(255)),
    wait: fc.constantFrom(0, 0, 0, 1, 11 * HOUR, KEY_PERIOD - 1, KEY_PERIOD),
  })
  return fc.array(call, { minLength: 1, maxLength: 20, size: 'max' }).map(createsWithKeys)
}
