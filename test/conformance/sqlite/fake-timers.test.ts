import Database from 'libsql'
import { expect, onTestFinished, test, vi } from 'vitest'
import { sqlite } from '../../../adapters/back-ends/sqlite/index.ts'

test('the SQLite back end writes under fake timers', async () => {
  const database = new Database(':memory:')
  onTestFinished(() => void database.close())
  const { storage } = sqlite(database)
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  expect(await storage.create({ name: 'Rex', categoryId: 1n, status: 'available' })).toMatchObject({ id: 1n })
})
