import { expect, onTestFinished, test, vi } from 'vitest'
import { seed } from '../../../adapters/cli/demo.ts'
import { furnish } from '../../../adapters/cli/furnish.ts'
import { memory, type NewPet } from '../../../src/index.ts'

/** A storage that adds many at once, and tells how many each time. */
function bulk() {
  const { storage } = memory()
  const batches: number[] = []
  const createMany = async (pets: readonly NewPet[]) => {
    batches.push(pets.length)
    for (const pet of pets) await storage.create(pet)
  }
  return { storage: { ...storage, createMany }, batches }
}

test('demo animals are added many at once, in their order', async () => {
  const { storage, batches } = bulk()
  await seed(storage, 40, 2_100)
  expect(batches).toEqual([1_000, 1_000, 60])
  expect([await storage.get(1n), await storage.get(2_060n)]).toMatchObject([
    { name: 'Rex 5', categoryId: 1n, status: 'available' },
    { name: 'Biscuit 210', categoryId: 5n, status: 'sold' },
  ])
})

test('it is waited for each, where a storage adds them one by one', async () => {
  const { storage } = memory()
  const create = async (pet: NewPet) => {
    await new Promise((resolve) => setImmediate(resolve))
    return storage.create(pet)
  }
  await seed({ ...storage, create }, 0, 7)
  expect(await storage.list({ limit: 10 })).toHaveLength(7)
  const failing = { ...storage, create: () => Promise.reject(new Error('full')) }
  await expect(seed(failing, 0, 1)).rejects.toThrow('full')
})

test('a signal has its turn while they are added, and breaks it off, in memory too', async () => {
  const { storage } = memory()
  const ending = new AbortController()
  setImmediate(() => ending.abort())
  await seed(storage, 0, 1_000_000, ending.signal)
  expect((await storage.list({ limit: 100_000 })).length).toBeLessThan(100_000)
})

test('keys that nobody is shown any more, as the server ends meanwhile, are revoked', async () => {
  const { keyStore, ...rest } = memory()
  const ending = new AbortController()
  const issue: typeof keyStore.issue = (options) => {
    ending.abort()
    return keyStore.issue(options)
  }
  const backEnd = { ...rest, keyStore: { ...keyStore, issue }, place: 'memory', close: async () => {} }
  await furnish(backEnd, { seed: 0, planLimits: {} }, ending.signal)
  expect(await keyStore.list()).toMatchObject(Array(4).fill({ revokedAt: expect.any(Number) }))
})

test.each([
  ['xterm', 2_000, true],
  ['xterm', 0, false],
  ['dumb', 2_000, false],
])('a terminal is shown how far it is, where it can show that: %s, %i animals, %j', async (term, count, isShown) => {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  const isTTY = Object.getOwnPropertyDescriptor(process.stderr, 'isTTY')
  onTestFinished(() => {
    write.mockRestore()
    vi.unstubAllEnvs()
    if (isTTY === undefined) Reflect.deleteProperty(process.stderr, 'isTTY')
    else Object.defineProperty(process.stderr, 'isTTY', isTTY)
  })
  Object.defineProperty(process.stderr, 'isTTY', { value: true, configurable: true })
  vi.stubEnv('TERM', term)
  await seed(bulk().storage, 0, count)
  const shown = write.mock.calls.map(([text]) => String(text))
  const bars = [
    `\r[${'.'.repeat(30)}]   0 %  0 of 2000`,
    `\r[${'#'.repeat(15)}${'.'.repeat(15)}]  50 %  1000 of 2000`,
    '\r\x1b[K',
  ]
  expect(shown).toEqual(isShown ? bars : [])
})
