import { expect, test, vi } from 'vitest'
import { addDemoData, addDemoPets } from '../../../../adapters/cli/serve/demo-data.ts'
import { memory, type NewPet } from '../../../../src/index.ts'

test('adds demo animals in order and in batches, with a pause after each batch', async () => {
  const { storage } = memory()
  const counts: number[] = []
  const pause = async (batchTime: number) => {
    expect(batchTime).toBeGreaterThanOrEqual(0)
    counts.push((await storage.list({ limit: 2_000 })).length)
  }
  await addDemoPets(storage, 40, 1_100, { pause })
  expect(counts).toEqual([500, 1_000, 1_060])
  expect([await storage.get(1n), await storage.get(1_060n)]).toMatchObject([
    { name: 'Rex 5', categoryId: 1n, status: 'available' },
    { name: 'Biscuit 110', categoryId: 5n, status: 'sold' },
  ])
})

test('addDemoPets waits for all animals of a batch, and rejects if a create fails', async () => {
  const { storage } = memory()
  const create = async (pet: NewPet) => {
    await new Promise((resolve) => setImmediate(resolve))
    return storage.create(pet)
  }
  await addDemoPets({ ...storage, create }, 0, 7)
  expect(await storage.list({ limit: 10 })).toHaveLength(7)
  const failing = { ...storage, create: () => Promise.reject(new Error('full')) }
  await expect(addDemoPets(failing, 0, 1)).rejects.toThrow('full')
})

test('stops adding demo animals when the AbortSignal aborts', async () => {
  const { storage } = memory()
  const closing = new AbortController()
  setImmediate(() => closing.abort())
  await addDemoPets(storage, 0, 1_000_000, { signal: closing.signal })
  expect((await storage.list({ limit: 100_000 })).length).toBeLessThan(100_000)
})

test('revokes demo keys if the server closes while the keys are issued', async () => {
  const { keyStore, storage } = memory()
  const closing = new AbortController()
  const issue: typeof keyStore.issue = (options) => {
    closing.abort()
    return keyStore.issue(options)
  }
  await addDemoData({ storage, keyStore: { ...keyStore, issue } }, { seed: 0, planLimits: {} }, closing.signal)
  expect(await keyStore.list()).toMatchObject(Array(4).fill({ revokedAt: expect.any(Number) }))
})

test.each([
  ['an empty store in memory', 8, {}, 0],
  ['an empty store in memory and the flag --seed 0', 0, { seed: 0 }, 0],
  ['a file with animals', undefined, { data: 'pets.db' }, 1],
  ['a file with animals and the flag --demo', undefined, { data: 'pets.db', demo: true }, 1],
] as const)('for %s, addDemoData returns { animals: %s }', async (_, animals, flags, found) => {
  const { keyStore, storage } = memory()
  await addDemoPets(storage, 0, found)
  const added = await addDemoData({ storage, keyStore }, { ...flags, planLimits: {} }, new AbortController().signal)
  expect(added.animals).toBe(animals)
})

test('reads no keys of a file without the flag --demo', async () => {
  const { keyStore, storage } = memory()
  const list = vi.fn(keyStore.list)
  const places = [{ data: 'pets.db' }, { databaseUrl: 'postgres://localhost' }, { data: 'pets.db', seed: 3 }]
  for (const flags of places)
    await addDemoData(
      { storage, keyStore: { ...keyStore, list } },
      { ...flags, planLimits: {} },
      new AbortController().signal,
    )
  expect(list).not.toHaveBeenCalled()
})
