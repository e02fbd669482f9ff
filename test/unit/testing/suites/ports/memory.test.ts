import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { type Clock, memory, type Pet, type PetStorage, petStatuses } from '../../../../../src/index.ts'
import { hashToken } from '../../../../../src/keys/token.ts'
import { wrapPort } from '../../../../../src/support/wrap-port.ts'
import { keyStoreContract, quotaContract, storageContract } from '../../../../../src/testing/index.ts'
import { pageOf } from './planted-faults.ts'

const close = async () => {}

storageContract(
  { describe, test },
  { name: 'memory', open: async (clock) => ({ port: memory({ clock }).storage, close }) },
)

test('the storage suite calls each method of a storage', async () => {
  const methods = {
    list: true,
    create: true,
    get: true,
    update: true,
    remove: true,
    restore: true,
    count: true,
  } satisfies Record<keyof PetStorage, true>
  const called = new Set<string>()
  const tests: (() => unknown)[] = []
  const open = async (clock: Clock) => {
    const { storage } = memory({ clock })
    const note = (name: keyof PetStorage) => (call: () => unknown) => {
      called.add(name)
      return call()
    }
    const around = Object.fromEntries(Object.keys(methods).map((name) => [name, note(name as keyof PetStorage)]))
    return { port: wrapPort(storage, around), close }
  }
  const runner = {
    describe: (_: string, add: () => void) => add(),
    test: (_: string, run: () => unknown) => tests.push(run),
  }
  storageContract(runner, { name: 'memory', open, runs: 1 })
  for (const run of tests) await run()
  expect([...called].sort()).toEqual(Object.keys(methods).sort())
})

keyStoreContract(
  { describe, test },
  { name: 'memory', open: async (clock) => ({ port: memory({ clock }).keyStore, close }) },
)
quotaContract({ describe, test }, { name: 'memory', open: async (clock) => ({ port: memory({ clock }).quota, close }) })

test('keys are issued and found without crypto.subtle, which jsdom does not have', async () => {
  vi.stubGlobal('crypto', { getRandomValues: (array: Uint8Array) => array.fill(7) })
  try {
    const { keyStore } = memory()
    const { token, key } = await keyStore.issue({ plan: 'free' })
    expect(await keyStore.find(token)).toEqual(key)
    expect(await keyStore.find(`${token}x`)).toBeUndefined()
    await expect(hashToken(token)).rejects.toThrow(/^crypto\.subtle, which computes SHA-256, is missing: expected Node/)
  } finally {
    vi.unstubAllGlobals()
  }
})

test('find returns the key itself, not a promise', async () => {
  const { keyStore } = memory()
  const { token, key } = await keyStore.issue({ plan: 'free' })
  expect(keyStore.find(token)).toBe(key)
  await keyStore.revoke(key.id)
  expect(keyStore.find(token)).toBeUndefined()
})

test('list and Array.filter find the same animals', async () => {
  const statuses = fc.array(fc.constantFrom(...petStatuses), { maxLength: 400, size: 'max' })
  const query = fc.record({
    limit: fc.integer({ min: 1, max: 101 }),
    after: fc.option(fc.bigInt({ min: -2n, max: 402n }), { nil: undefined }),
    status: fc.constantFrom(undefined, ...petStatuses),
  })
  const property = fc.asyncProperty(statuses, fc.array(query), async (statuses, queries) => {
    const { storage } = memory()
    const all: Pet[] = []
    for (const status of statuses) all.push(await storage.create({ name: 'Rex', categoryId: 1n, status }))
    for (const query of queries) expect(await storage.list(query)).toEqual(pageOf(all, query))
  })
  await fc.assert(property)
})
