import { expect, test, vi } from 'vitest'
import { addDemoPets } from '../../../../adapters/cli/pets/demo-pets.ts'
import { addDemoData } from '../../../../adapters/cli/serve/demo-data.ts'
import { memory } from '../../../../src/index.ts'

test('revokes demo keys if the server closes while the keys are issued', async () => {
  const { keyStore, storage } = memory()
  const closing = new AbortController()
  const issue: typeof keyStore.issue = (options) => {
    closing.abort()
    return keyStore.issue(options)
  }
  await addDemoData({ storage, keyStore: { ...keyStore, issue } }, { seed: 0, planLimits: {} }, closing.signal)
  expect(await keyStore.list({ limit: 1_000 })).toMatchObject(Array(4).fill({ revokedAt: expect.any(Number) }))
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
