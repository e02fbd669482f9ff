import assert from 'node:assert/strict'
import { BUCKET_SIZE, BUCKETS } from '../../../adapters/back-ends/shared/counters.ts'
import { sqlite } from '../../../adapters/back-ends/sqlite/index.ts'
import type { PetMembers } from '../../../src/index.ts'
import { manualClock, type TestRunner } from '../../../src/testing/index.ts'
import { DAY, onNewFile, PRUNE_PERIOD, query, REX, spending } from './fixtures.ts'
import type { OpenFile } from './open.ts'

/** Adds tests of stored counts. */
export function countTests({ describe, test }: TestRunner, name: string, openFile: OpenFile): void {
  const on = onNewFile(test, openFile)

  describe(`counts: ${name}`, () => {
    on('counts exactly beside a failure in the same transaction', async ({ storage, quota }) => {
      const wrong = { ...REX, name: null } as unknown as PetMembers
      const spend = async (subject: string) => (await quota.spend(spending(subject, 0))).usedInMinute
      const turn = () =>
        Promise.allSettled([spend('key:a'), storage.create(wrong), spend('key:b'), spend('key:a'), storage.create(REX)])
      for (const [a, b] of [
        [1, 1],
        [3, 2],
      ] as const) {
        const results = (await turn()).map((result) => (result.status === 'fulfilled' ? result.value : 'failed'))
        assert.deepEqual(results.slice(0, 4), [a, 'failed', b, a + 1])
      }
      assert.deepEqual([await spend('key:a'), await spend('key:b')], [5, 3])
    })

    on('counts a delayed request in the minute that has begun meanwhile', async ({ database }) => {
      const clock = manualClock()
      const minute = Math.ceil(clock.now() / 60_000) * 60_000
      const { quota } = sqlite(database, { clock })
      const spend = (now: number, waiting = 0) => {
        const count = Promise.resolve(quota.spend(spending('key:a', now)))
        clock.advance(waiting)
        return count
      }
      assert.equal((await spend(minute + 2_000)).usedInMinute, 1)
      const late = await spend(minute - 500, 3_000)
      assert.deepEqual([late.now, late.usedInMinute, late.minuteEndsAt], [minute, 2, minute + 60_000])
      const setBack = await spend(minute - 500, 400)
      assert.deepEqual([setBack.now, setBack.minuteEndsAt], [minute - 500, minute + 59_500])
    })

    on('distinguishes subjects that SQLite stores alike', async ({ quota }) => {
      const subjects = ['key:\ud800', 'key:\udfff', 'key:\ufffd', 'key:\ud800\u0000', 'key:']
      for (const used of [1, 2]) {
        const counts = await Promise.all(subjects.map(async (subject) => quota.spend(spending(subject, 0))))
        assert.deepEqual(
          counts.map(({ usedInMinute }) => usedInMinute),
          subjects.map(() => used),
        )
      }
    })

    on('removes ended counts during later requests', async ({ database, quota }) => {
      const clock = manualClock()
      const count = () => Number(query(database, 'SELECT count(*) AS n FROM petstore_quota')[0]?.n)
      const spend = (subject: string, anonymous: boolean) =>
        quota.spend({ ...spending(subject, clock.now()), anonymous })
      for (let i = 0; i < 40; i++) await spend(`key:${i}`, false)
      for (let i = 0; i < 40; i++) await spend(`address:${i}`, true)
      assert.equal(count(), 80)
      const spendOften = () => Promise.all(Array.from({ length: PRUNE_PERIOD }, () => spend('key:regular', false)))
      clock.advance(2 * DAY)
      await spendOften()
      assert.equal(count(), 81)
      clock.advance(2 * DAY)
      await spendOften()
      assert.equal(count(), 1)
    })

    on('removes ended counts of a large table in several steps', async ({ database, quota }) => {
      const { now } = manualClock()
      const spendOften = () =>
        Promise.all(Array.from({ length: PRUNE_PERIOD }, () => quota.spend(spending('key:a', now()))))
      await spendOften()
      database.exec(`WITH numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 5000)
        INSERT INTO petstore_quota SELECT 'key:old:' || n, NULL, 1, 1, 1, 1, 0, 0, 1, 1 FROM numbers`)
      const count = () => Number(query(database, 'SELECT count(*) AS n FROM petstore_quota')[0]?.n)
      while (count() > 1_000) await spendOften()
      assert.equal((await quota.spend(spending('key:a', now()))).usedInMinute, 60)
    })

    on('rejects one of 500 requests if ended counts cannot be removed', async ({ database, quota }) => {
      await quota.spend(spending('key:a', 0))
      database.exec("CREATE TRIGGER stop BEFORE DELETE ON petstore_quota BEGIN SELECT raise(ABORT, 'stopped'); END")
      const { now } = manualClock()
      const spent = Array.from({ length: PRUNE_PERIOD }, async () => quota.spend(spending('key:b', now())))
      const results = await Promise.allSettled(spent)
      assert.equal(results.filter(({ status }) => status === 'rejected').length, 1)
    })

    on('stores a bounded number of anonymous clients, and keeps refused ones', async ({ database, quota }) => {
      const { now } = manualClock()
      const count = () => Number(query(database, 'SELECT count(*) AS n FROM petstore_quota')[0]?.n)
      const refused = { ...spending('address:refused', now()), limits: { perMinute: 2, perDay: 2 } }
      for (let i = 0; i < 3; i++) await quota.spend(refused)
      await quota.spend({ ...spending('key:customer', now()), anonymous: false })
      await Promise.all(Array.from({ length: 15_000 }, (_, i) => quota.spend(spending(`address:${i}`, now()))))
      assert.ok(count() <= BUCKETS * BUCKET_SIZE + 1, String(count()))
      assert.equal((await quota.spend(refused)).granted, false)
      const customer = await quota.spend({ ...spending('key:customer', now()), anonymous: false })
      assert.equal(customer.usedInMinute, 2)
    })
  })
}
