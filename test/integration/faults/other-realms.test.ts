import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { postgres } from '../../../adapters/back-ends/postgres/index.ts'
import { redis } from '../../../adapters/back-ends/redis/index.ts'
import { guarded } from '../../../adapters/back-ends/sqlite/errors.ts'

/** Throws an error of another realm: it is not an `instanceof Error` here. Under Jest, errors of Node modules are like this. */
function foreign(members: object): never {
  throw Object.assign(runInNewContext('new Error("connect")') as Error, members)
}

const unavailable = expect.objectContaining({ code: 'service_unavailable' })
const noSocket = () => foreign({ syscall: 'connect', code: 'ENOENT' })

test('a lost connection gives `service_unavailable` even if `error instanceof Error` is false', async () => {
  expect(() => guarded(() => foreign({ code: 'ERR_SQLITE_ERROR', errcode: 5 }))).toThrow(unavailable)
  const { storage } = postgres({ query: async () => noSocket() })
  await expect(storage.list({ limit: 1 })).rejects.toThrow(unavailable)
  const { quota } = redis(async () => noSocket())
  const limits = { perMinute: 1, perDay: 1 }
  await expect(quota.spend({ subject: 'a', anonymous: false, limits, ban: false, now: 0 })).rejects.toThrow(unavailable)
})
