import { expect, onTestFinished, test, vi } from 'vitest'
import { seed } from '../../adapters/cli/demo.ts'
import { memory, type NewPet } from '../../src/index.ts'

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
  const [first] = await storage.list({ limit: 1 })
  expect([first?.name, (await storage.get(2_060n))?.name]).toEqual(['Rex 5', 'Biscuit 210'])
})

test('a signal has its turn while they are added, and breaks it off, in memory too', async () => {
  const { storage } = memory()
  const ending = new AbortController()
  setImmediate(() => ending.abort())
  await seed(storage, 0, 1_000_000, ending.signal)
  expect((await storage.list({ limit: 100_000 })).length).toBeLessThan(100_000)
})

test('a terminal is shown how far it is', async () => {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  const isTTY = Object.getOwnPropertyDescriptor(process.stderr, 'isTTY')
  onTestFinished(() => {
    write.mockRestore()
    vi.unstubAllEnvs()
    if (isTTY === undefined) Reflect.deleteProperty(process.stderr, 'isTTY')
    else Object.defineProperty(process.stderr, 'isTTY', isTTY)
  })
  Object.defineProperty(process.stderr, 'isTTY', { value: true, configurable: true })
  vi.stubEnv('TERM', 'xterm')
  await seed(bulk().storage, 0, 2_000)
  const shown = write.mock.calls.map(([text]) => String(text))
  expect(shown).toEqual([
    `\r[${'.'.repeat(30)}]   0 %  0 of 2000`,
    `\r[${'#'.repeat(15)}${'.'.repeat(15)}]  50 %  1000 of 2000`,
    '\r\x1b[K',
  ])
})
