import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { postgres } from '../../../adapters/back-ends/postgres/index.ts'
import { redis } from '../../../adapters/back-ends/redis/index.ts'
import { guarded } from '../../../adapters/back-ends/sqlite/errors.ts'

/** An error as Node's own modules throw it at what Jest runs: no instance of the Error that the code there knows. */
function foreign(members: object): never {
  throw Object.assign(runInNewContext('new Error("connect")') as Error, members)
}

const unavailable = expect.objectContaining({ code: 'service_unavailable' })
const noSocket = () => foreign({ syscall: 'connect', code: 'ENOENT' })

test('a failure of another realm counts as one of our own', async () => {
  expect(() => guarded(() => foreign({ code: 'ERR_SQLITE_ERROR', errcode: 5 }))).toThrow(unavailable)
  const { storage } = postgres({ query: async () => noSocket() })
  await expect(storage.list({ limit: 1 })).rejects.toThrow(unavailable)
  const { quota } = redis(async () => noSocket())
  const limits = { perMinute: 1, perDay: 1 }
  await expect(quota.spend({ subject: 'a', anonymous: false, limits, ban: false, now: 0 })).rejects.toThrow(unavailable)
})
