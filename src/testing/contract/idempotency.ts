import type { Arbitrary } from 'fast-check'
import { KEY_PERIOD } from '../../pets/idempotency.ts'
import { REX, SOLD } from './arbitraries.ts'
import type { CheckedStorage, CreateOnceCall } from './checked-storage.ts'
import type { FastCheck, Use } from './runner.ts'

const ADA = { ...SOLD, name: 'Ada' } as const
const HOUR = 3_600_000

/** One example for each rule. They are skipped if the storage has no `createOnce`. */
export const idempotencyExamples: Record<string, Use<CheckedStorage>> = {
  'createOnce adds one animal for each idempotency key': async ({ createOnce, list }) => {
    for (const key of ['order-1', 'order-1', 'order-2', 'order-1']) await createOnce({ key })
    await list()
  },
  'concurrent repeats of an idempotency key add one animal': async ({ createOnce, list }) => {
    await createOnce({}, 10)
    await createOnce()
    await list()
  },
  'createOnce reports an idempotency key that was used for another animal': async ({ createOnce, list }) => {
    await createOnce()
    for (const pet of [ADA, { ...REX, status: 'available' }, { ...REX, categoryId: 2n }, REX] as const)
      await createOnce({ pet })
    await list()
  },
  'each scope has idempotency keys of its own': async ({ createOnce, list }) => {
    await createOnce()
    for (const scope of ['account:ACME', 'account:acme ', 'key:acme']) await createOnce({ scope })
    await createOnce({ scope: 'account:acmeorder', key: '-1' })
    await list()
  },
  'an idempotency key differs by each of its characters': async ({ createOnce, list }) => {
    const long = 'k'.repeat(254)
    for (const key of ['a', 'A', '"', '\\', "'", '%', '_', `${long}1`, `${long}2`, 'a', `${long}1`])
      await createOnce({ key })
    await list()
  },
  'keeps idempotency keys when it is opened again': async ({ createOnce, reopen, list }) => {
    const keys = Array.from({ length: 30 }, (_, i) => `order-${i}`)
    for (const key of keys) await createOnce({ key })
    await reopen()
    for (const key of keys) await createOnce({ key })
    await list()
  },
  'an idempotency key ends after 48 hours': async ({ createOnce, setClock, now, list }) => {
    const start = now()
    for (const time of [0, KEY_PERIOD - 1, KEY_PERIOD, KEY_PERIOD + 1, 2 * KEY_PERIOD - 1]) {
      setClock(start + time)
      await createOnce()
    }
    await list()
  },
}

/** A call, and the time since the previous call in milliseconds. */
type LaterCall = CreateOnceCall & { readonly wait: number }

/** Generates calls with few scopes, keys and animals, over a time in which 48 hours pass. */
export function createOnceCalls(fc: FastCheck): Arbitrary<readonly LaterCall[]> {
  const call = fc.record({
    pet: fc.constantFrom(REX, ADA),
    scope: fc.constantFrom('account:acme', 'key:7'),
    key: fc.constantFrom('order-1', 'order-2', '~'.repeat(255)),
    wait: fc.constantFrom(0, 0, 0, 1, 11 * HOUR, KEY_PERIOD - 1, KEY_PERIOD),
  })
  return fc.array(call, { minLength: 1, maxLength: 20, size: 'max' })
}

export async function makeCreateOnceCalls(
  { createOnce, setClock, now, list }: CheckedStorage,
  calls: readonly LaterCall[],
): Promise<void> {
  for (const { wait, ...call } of calls) {
    setClock(now() + wait)
    await createOnce(call)
  }
  await list()
}
