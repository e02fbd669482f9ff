import { describe, expect, test } from 'vitest'
import { operatingRoutes, readyCheck, withSite } from '../../../adapters/cli/site.ts'
import { createPetStore, memory, toApiRequest } from '../../../src/index.ts'

const quiet = { onFailure: () => {} }

describe('readyCheck', () => {
  test('readyCheck returns no names if every part responds', async () => {
    expect(await readyCheck(memory(), quiet)()).toEqual([])
  })

  test('readyCheck returns the names of the parts that fail', async () => {
    const failures: string[] = []
    const onFailure = (part: string, cause: string) => failures.push(`${part}: ${cause}`)
    const backEnd = memory()
    const list = () => Promise.reject(new Error('password=secret'))
    const spend = () => {
      throw new Error('away', { cause: new Error('ECONNREFUSED') })
    }
    const check = readyCheck({ ...backEnd, storage: { ...backEnd.storage, list }, quota: { spend } }, { onFailure })
    expect(await check()).toEqual(['storage', 'quota'])
    expect(failures).toEqual(['quota: ECONNREFUSED', 'storage: password=secret'])
  })

  test('readyCheck returns the name of a part that responds too late', async () => {
    const find = () => new Promise<never>(() => {})
    const backEnd = memory()
    const check = readyCheck({ ...backEnd, keyStore: { find } }, { ...quiet, timeout: 0 })
    expect(await check()).toEqual(['keys'])
  })

  test('readyCheck reuses a result for one second', async () => {
    const backEnd = memory()
    let [now, calls] = [1_000, 0]
    const list = () => {
      calls += 1
      return []
    }
    const check = readyCheck({ ...backEnd, storage: { ...backEnd.storage, list } }, { ...quiet, now: () => now })
    await Promise.all([check(), check()])
    await check()
    expect(calls).toBe(1)
    now += 1_000
    await check()
    expect(calls).toBe(2)
  })
})

describe('withSite', () => {
  const { handle } = withSite(
    createPetStore(),
    operatingRoutes(async () => ['storage']),
  )
  const send = (path: string, method = 'GET') => handle(toApiRequest(new Request(`http://a${path}`, { method })))

  test('/ready responds with 503 and the failing part', async () => {
    const { status, body, headers } = await send('/ready?verbose')
    expect([status, body]).toEqual([503, '{"status":"unavailable","failing":["storage"]}'])
    expect(headers.join()).not.toContain('X-RateLimit')
  })

  test('withSite responds to HEAD without a body', async () => {
    expect(await send('/health', 'HEAD')).toMatchObject({ status: 200, body: '' })
  })

  test('withSite passes other paths to the pet store', async () => {
    expect([(await send('/healthy')).status, (await send('/v1/health')).status]).toEqual([401, 401])
  })
})
