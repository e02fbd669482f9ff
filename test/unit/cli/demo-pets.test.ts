import { expect, test } from 'vitest'
import { addDemoPets } from '../../../adapters/cli/pets/demo-pets.ts'
import { memory, type PetMembers } from '../../../src/index.ts'

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
  const create = async (pet: PetMembers) => {
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
