import { describe, expect, test } from 'vitest'
import { type D1Database, d1 } from '../../../adapters/back-ends/sqlite/d1/index.ts'

/** Returns a database on which every statement fails with the given message. */
function failing(message: string): D1Database {
  const all = () => Promise.reject(new Error(message))
  const statement = { bind: () => statement, all }
  return { prepare: () => statement, batch: all }
}

describe('d1', () => {
  test.each([
    'D1_ERROR: Network connection lost.',
    'Network connection lost.',
    'D1_ERROR: internal error; reference = 0a1b2c3d4e5f',
    'internal error; reference = 0a1b2c3d4e5f',
    'D1_ERROR: D1 DB reset because its code was updated.',
    'D1_ERROR: Cannot resolve D1 DB due to transient issue on remote node.',
    'D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.',
    'D1_ERROR: D1 DB is overloaded. Requests queued for too long.',
    'D1_ERROR: database or disk is full: SQLITE_FULL',
    'D1_ERROR: disk I/O error: SQLITE_IOERR (extended: SQLITE_IOERR_WRITE)',
    'SERVER_ERROR: Server returned HTTP status 502',
  ])('throws service_unavailable if D1 fails with: %s', async (message) => {
    const { storage, quota } = d1(failing(message))
    const unavailable = { code: 'service_unavailable', cause: { message } }
    await expect(storage.get(1n)).rejects.toMatchObject(unavailable)
    const request = { subject: 'a', anonymous: false, limits: { perMinute: 1, perDay: 1 }, ban: false, now: 0 } as const
    await expect(quota.spend(request)).rejects.toMatchObject(unavailable)
  })

  test.each([
    'D1_ERROR: no such table: petstore_pets: SQLITE_ERROR',
    'D1_ERROR: UNIQUE constraint failed: petstore_keys.id: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_UNIQUE)',
    "D1_TYPE_ERROR: Type 'undefined' not supported for value 'undefined'",
  ])('rethrows the error of a bad statement unchanged: %s', async (message) => {
    await expect(d1(failing(message)).storage.get(1n)).rejects.toMatchObject({ message })
  })

  test('the error for a missing binding names the option `database`', () => {
    const missing = undefined as unknown as D1Database
    expect(() => d1(missing)).toThrow(/database: expected a D1 binding such as env.DB/)
  })
})
