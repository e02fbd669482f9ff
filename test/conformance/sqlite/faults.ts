import assert from 'node:assert/strict'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { BUCKET_SIZE, BUCKETS } from '../../../adapters/back-ends/shared/counters.ts'
import { prepare } from '../../../adapters/back-ends/sqlite/connection.ts'
import { sqlite } from '../../../adapters/back-ends/sqlite/index.ts'
import { STEPS } from '../../../adapters/back-ends/sqlite/schema.ts'
import { quotaStatements, statements } from '../../../adapters/back-ends/sqlite/statements.ts'
import {
  type CreatedPet,
  createPetStore,
  memory,
  type PetMembers,
  type PetStorage,
  type QuotaRequest,
} from '../../../src/index.ts'
import { manualClock, type TestRunner } from '../../../src/testing/index.ts'
import { type Connection, type OpenFile, openBackEnd } from './open.ts'

const REX: PetMembers = { name: 'Rex', categoryId: 7n, status: 'sold' }
const DAY = 86_400_000
/** Old rows are deleted once in this number of uses. */
const PRUNE_PERIOD = 500
const UNAVAILABLE = { code: 'service_unavailable', status: 503 }

function query(database: Connection, sql: string): Record<string, unknown>[] {
  return prepare(database, sql).all() as Record<string, unknown>[]
}

/** Locks a file against other writers. Returns a function that ends the lock. */
function lock(openFile: OpenFile, path: string, kind: 'IMMEDIATE' | 'EXCLUSIVE' = 'IMMEDIATE'): () => void {
  const other = openFile(path)
  other.exec(`BEGIN ${kind}`)
  return () => {
    other.exec('ROLLBACK')
    other.close()
  }
}

function pragma(database: Connection, name: string): string {
  return String(Object.values(query(database, `PRAGMA ${name}`)[0] ?? {})[0])
}

/** Adds tests of failures, limits and settings, which must give the same results with each SQLite driver. */
export function sqliteFaults({ describe, test }: TestRunner, name: string, openFile: OpenFile): void {
  const on = (title: string, body: (opened: ReturnType<typeof openBackEnd>) => Promise<void>) =>
    test(title, async () => {
      const opened = openBackEnd(openFile)
      try {
        await body(opened)
      } finally {
        await opened.close()
      }
    })

  describe(`faults: ${name}`, () => {
    on(
      'rejects with service_unavailable while the disk is full, and recovers',
      async ({ database, storage, keyStore }) => {
        const created = [await storage.create(REX)]
        database.exec(`PRAGMA max_page_count = ${Number(pragma(database, 'page_count')) + 2}`)
        await assert.rejects(async () => {
          for (;;) created.push(await storage.create({ ...REX, name: 'x'.repeat(500) }))
        }, UNAVAILABLE)
        await assert.rejects(async () => storage.create({ ...REX, name: 'x'.repeat(50_000) }), UNAVAILABLE)
        await assert.rejects(keyStore.issue({ plan: 'free', label: 'x'.repeat(50_000) }), UNAVAILABLE)
        assert.deepEqual(await storage.list({ limit: 1_000 }), created)
        database.exec('PRAGMA max_page_count = 1000000')
        created.push(await storage.create(REX))
        assert.deepEqual(await storage.list({ limit: 1_000 }), created)
      },
    )

    on('gives up after busyTimeout while another process holds the lock', async ({ database, path }) => {
      const { storage, quota, keyStore } = sqlite(database, { busyTimeout: 20 })
      const unlock = lock(openFile, path)
      await assert.rejects(async () => storage.create(REX), UNAVAILABLE)
      await assert.rejects(async () => quota.spend(spending('key:a', 0)), UNAVAILABLE)
      await assert.rejects(keyStore.issue({ plan: 'free' }), UNAVAILABLE)
      assert.deepEqual(await storage.list({ limit: 9 }), [])
      unlock()
      assert.equal((await storage.create(REX)).id, 1n)
    })

    on(
      'waits for the lock of another process, and serves other requests meanwhile',
      async ({ path, storage, quota }) => {
        const unlock = lock(openFile, path)
        const names = ['Ann', 'Bob', 'Cid']
        const created = names.map(async (name) => storage.create({ ...REX, name }))
        const count = quota.spend(spending('key:a', 0))
        for (let turn = 0; turn < 9; turn++) await new Promise(setImmediate)
        assert.deepEqual(await storage.list({ limit: 9 }), [])
        unlock()
        assert.deepEqual(
          (await Promise.all(created)).map(({ id, name }) => [id, name]),
          names.map((name, index) => [BigInt(index + 1), name]),
        )
        assert.equal((await count).usedInMinute, 1)
      },
    )

    on('adds nothing after the signal of a waiting call has aborted', async ({ path, storage }) => {
      const unlock = lock(openFile, path)
      const client = new AbortController()
      const abandoned = storage.create(REX, {}, { signal: client.signal })
      const other = storage.create({ ...REX, name: 'Bob' })
      await new Promise(setImmediate)
      client.abort(new Error('the client has left'))
      await assert.rejects(async () => abandoned, /the client has left/)
      unlock()
      await other
      assert.deepEqual(
        (await storage.list({ limit: 9 })).map(({ name }) => name),
        ['Bob'],
      )
    })

    on('a request gets 503 at the timeout of the store, and its animal is never added', async ({ path, storage }) => {
      const { keyStore, quota } = memory()
      const { token } = await keyStore.issue({ plan: 'free' })
      const petStore = createPetStore({ storage, keyStore, quota, timeout: 20, onError: () => {} })
      const unlock = lock(openFile, path)
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const request = { method: 'POST', headers, body: '{"name":"Rex","categoryId":1}' }
      assert.equal((await petStore.fetch(new Request('http://localhost/v1/pets', request))).status, 503)
      unlock()
      assert.equal((await storage.create({ ...REX, name: 'Bob' })).id, 1n)
    })

    on('a read waits too if the journal mode has no readers beside a writer', async ({ path }) => {
      const database = openFile(`${path}-truncate`)
      query(database, 'PRAGMA journal_mode = TRUNCATE')
      const { storage } = sqlite(database)
      const created = await storage.create(REX)
      const unlock = lock(openFile, `${path}-truncate`, 'EXCLUSIVE')
      const listed = storage.list({ limit: 9 })
      await new Promise(setImmediate)
      unlock()
      assert.deepEqual(await listed, [created])
      database.close()
    })

    on(
      'rejects writes to a read-only file with service_unavailable',
      async ({ database, storage, keyStore, quota }) => {
        const kept = await storage.create(REX)
        database.exec('PRAGMA query_only = 1')
        await assert.rejects(async () => storage.create(REX), UNAVAILABLE)
        await assert.rejects(keyStore.issue({ plan: 'free' }), UNAVAILABLE)
        await assert.rejects(async () => quota.spend(spending('key:a', 0)), UNAVAILABLE)
        assert.deepEqual(await storage.list({ limit: 9 }), [kept])
        database.exec('PRAGMA query_only = 0')
        assert.equal((await storage.create(REX)).id, kept.id + 1n)
      },
    )

    on('rejects calls while another file or none is in the place of the file', async ({ path, storage, quota }) => {
      const isReported = (error: { code: string; cause: Error }) =>
        error.code === 'service_unavailable' &&
        error.cause.message.startsWith(`the file ${path} was deleted or replaced`)
      renameSync(path, `${path}-moved`)
      await assert.rejects(async () => storage.create(REX), isReported)
      await assert.rejects(async () => storage.list({ limit: 1 }), isReported)
      writeFileSync(path, '')
      await assert.rejects(async () => storage.create(REX), isReported)
      await assert.rejects(async () => quota.spend(spending('key:a', 0)), isReported)
      renameSync(`${path}-moved`, path)
      assert.equal((await storage.create(REX)).id, 1n)
    })

    on('refuses a backup that lies beside the log of the file before it', async ({ database, storage, path }) => {
      await storage.create(REX)
      database.exec(`VACUUM INTO '${path}-copy'`)
      await storage.create({ ...REX, name: 'Bob' })
      renameSync(`${path}-copy`, path)
      const backup = readFileSync(path)
      const start = () => {
        const other = openFile(path)
        try {
          return sqlite(other, { onError: () => {} })
        } finally {
          other.close()
        }
      }
      assert.throws(start, (error: { code: string; cause: Error }) => {
        assert.equal(error.code, 'service_unavailable')
        assert.match(error.cause.message, /^the log .*pets\.db-wal belongs to another file/)
        return true
      })
      assert.deepEqual(readFileSync(path), backup)
      for (const suffix of ['-wal', '-shm']) renameSync(`${path}${suffix}`, `${path}-old${suffix}`)
      start()
      assert.equal(query(openFile(path), 'SELECT count(*) AS n FROM petstore_pets')[0]?.n, 1)
    })

    on('a wrong animal fails no other animal of its batch', async ({ storage }) => {
      const wrong = { ...REX, name: null } as unknown as PetMembers
      const results = await Promise.allSettled([REX, wrong, REX].map(async (pet) => storage.create(pet)))
      assert.deepEqual(
        results.map(({ status }) => status),
        ['fulfilled', 'rejected', 'fulfilled'],
      )
      assert.deepEqual(
        (await storage.list({ limit: 9 })).map(({ id }) => id),
        [1n, 2n],
      )
      await assert.rejects(
        async () => storage.create(wrong),
        (error: { code?: string }) => error.code !== 'service_unavailable',
      )
    })

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

    on('does not end an open transaction of the host', async ({ database, storage }) => {
      database.exec('BEGIN; CREATE TABLE ours (x)')
      await assert.rejects(async () => storage.create(REX))
      database.exec('COMMIT')
      assert.deepEqual(query(database, 'SELECT * FROM ours'), [])
      assert.equal((await storage.create(REX)).id, 1n)
    })

    on('keeps ids exact up to the largest int64', async ({ database, storage }) => {
      database.exec("INSERT INTO sqlite_sequence (name, seq) VALUES ('petstore_pets', 9007199254740992)")
      const odd = await storage.create(REX)
      assert.equal(odd.id, 2n ** 53n + 1n)
      database.exec('UPDATE sqlite_sequence SET seq = 9223372036854775806')
      const last = await storage.create({ ...REX, categoryId: -(2n ** 63n) })
      assert.equal(last.id, 2n ** 63n - 1n)
      assert.deepEqual(await storage.list({ limit: 9, status: 'sold' }), [odd, last])
      assert.deepEqual(await storage.list({ limit: 9, after: last.id - 1n }), [last])
      assert.deepEqual(await storage.get(last.id), last)
      await assert.rejects(async () => storage.create(REX), UNAVAILABLE)
    })

    on('configures the connection, but keeps the settings of the host', async ({ database, path }) => {
      assert.equal(pragma(database, 'journal_mode'), 'wal')
      assert.equal(pragma(database, 'synchronous'), '2')
      assert.equal(pragma(database, 'busy_timeout'), '0')
      const other = openFile(`${path}-2`)
      query(other, 'PRAGMA journal_mode = TRUNCATE')
      sqlite(other, { synchronous: 'normal' })
      assert.deepEqual(
        ['journal_mode', 'synchronous'].map((name) => pragma(other, name)),
        ['truncate', '1'],
      )
      for (const [set, kept] of [
        ['OFF', '0'],
        ['EXTRA', '3'],
        ['NORMAL', '1'],
        ['FULL', '2'],
      ] as const) {
        other.exec(`PRAGMA synchronous = ${set}`)
        sqlite(other)
        assert.equal(pragma(other, 'synchronous'), kept)
      }
      other.close()
      const memory = openFile(':memory:')
      assert.equal((await sqlite(memory).storage.create(REX)).id, 1n)
      memory.close()
    })

    on('uses existing tables, and rejects tables of a later release', async ({ database, storage, path }) => {
      await storage.create(REX)
      const other = openFile(path)
      assert.equal((await sqlite(other).storage.list({ limit: 9 })).length, 1)
      other.close()
      database.exec('UPDATE petstore_schema SET version = 99')
      assert.throws(() => sqlite(database), {
        code: 'invalid_option',
        message: new RegExp(
          `^option database: expected a schema of version ${STEPS.length} at most, got version 99\\. A later`,
        ),
      })
    })

    on('stores only the hashes of idempotency keys', async ({ database, storage }) => {
      await createWithKey(storage, 'secretkey')
      const [row = {}] = query(database, 'SELECT * FROM petstore_used_keys')
      assert.doesNotMatch(JSON.stringify(Object.values(row).map(String)), /secret|account/)
    })

    on('rejects a call whose row a trigger of the host has dropped', async ({ database, storage, keyStore }) => {
      await storage.create(REX)
      for (const table of ['petstore_used_keys', 'petstore_pets', 'petstore_keys'])
        database.exec(`CREATE TRIGGER drop_${table} BEFORE INSERT ON ${table} BEGIN SELECT raise(IGNORE); END`)
      await assert.rejects(async () => storage.create(REX), /added no animal/)
      await assert.rejects(createWithKey(storage, 'order-1'), /added no animal/)
      await assert.rejects(keyStore.issue({ plan: 'free' }), /added no key/)
      database.exec('DROP TRIGGER drop_petstore_pets')
      await assert.rejects(createWithKey(storage, 'order-1'), /added no animal/)
      assert.equal((await storage.list({ limit: 9 })).length, 1)
    })

    on('returns a repeated animal as it was added', async ({ database, storage }) => {
      const created = await createWithKey(storage, 'order-1')
      database.exec("UPDATE petstore_pets SET status = 'pending', name = 'Max'")
      assert.deepEqual(await createWithKey(storage, 'order-1', 'Ann'), { ...created, earlier: 'same' })
      database.exec('DELETE FROM petstore_pets')
      assert.deepEqual(await createWithKey(storage, 'order-1'), { ...created, earlier: 'same' })
      assert.equal((await createWithKey(storage, 'order-2')).id, created.id + 1n)
    })

    on('stores no animal that the API could not return', async ({ database }) => {
      const columns = 'petstore_pets (id, name, category_id, status)'
      for (const values of [
        "0, 'Rex', 1, 'sold'",
        "1, 'Rex', 1, 'lost'",
        "1, NULL, 1, 'sold'",
        "1, 'Rex', 1.5, 'sold'",
      ])
        assert.throws(() => database.exec(`INSERT INTO ${columns} VALUES (${values})`), values)
    })

    on('a failed create leaves neither the animal nor its idempotency key', async ({ database, storage }) => {
      const create = async () => createWithKey(storage, 'order-1')
      database.exec("CREATE TRIGGER stop BEFORE INSERT ON petstore_used_keys BEGIN SELECT raise(ABORT, 'stopped'); END")
      await assert.rejects(create)
      assert.deepEqual(await storage.list({ limit: 9 }), [])
      database.exec('DROP TRIGGER stop')
      assert.deepEqual([(await create()).earlier, (await create()).earlier], [undefined, 'same'])
    })

    on('removes expired idempotency keys during later creates', async ({ path }) => {
      const clock = { time: 9 * DAY, now: () => clock.time }
      const other = openFile(`${path}-clock`)
      const { storage } = sqlite(other, { clock })
      await createWithKey(storage, 'ahead')
      clock.time = 0
      const useKeys = (name: string) =>
        Promise.all(Array.from({ length: PRUNE_PERIOD }, (_, i) => createWithKey(storage, `${name}-${i}`)))
      await useKeys('old')
      clock.time = 2 * DAY
      await useKeys('new')
      const [row] = query(other, 'SELECT count(*) AS n FROM petstore_used_keys')
      assert.equal(row?.n, PRUNE_PERIOD)
      assert.equal((await createWithKey(storage, 'new-0')).earlier, 'same')
      other.close()
    })

    on('reads by an index and sorts nothing', async ({ database, storage }) => {
      await Promise.all(
        Array.from({ length: 2_000 }, (_, i) => storage.create({ ...REX, status: i < 1_990 ? 'sold' : 'pending' })),
      )
      database.exec('ANALYZE')
      const plan = (sql: string) => {
        const values = [...sql.matchAll(/\?/g)].map(() => '1')
        const steps = prepare(database, `EXPLAIN QUERY PLAN ${sql}`).all(...values) as { detail: string }[]
        const details = steps.map(({ detail }) => detail).filter((detail) => /petstore_|TEMP B-TREE/.test(detail))
        // In the table of animals, `id` is another name of `rowid`.
        return details.map((detail) => detail.replaceAll('rowid', 'id'))
      }
      const reads = Object.entries({ ...statements, ...quotaStatements }).filter(([, sql]) => sql.startsWith('SELECT'))
      assert.deepEqual(Object.fromEntries(reads.map(([name, sql]) => [name, plan(sql)])), {
        page: ['SEARCH petstore_pets USING INTEGER PRIMARY KEY (id>?)'],
        pageOfStatus: ['SEARCH petstore_pets USING INDEX petstore_pets_by_status (status=? AND id>?)'],
        pet: ['SEARCH petstore_pets USING INTEGER PRIMARY KEY (id=?)'],
        usedKey: ['SEARCH petstore_used_keys USING INDEX sqlite_autoindex_petstore_used_keys_1 (key_sha256=?)'],
        key: ['SEARCH petstore_keys USING INDEX sqlite_autoindex_petstore_keys_2 (token_sha256=?)'],
        count: ['SCAN petstore_pets USING COVERING INDEX petstore_pets_by_status'],
        countOfStatus: ['SEARCH petstore_pets USING COVERING INDEX petstore_pets_by_status (status=?)'],
        // It returns every key.
        keys: ['SCAN petstore_keys'],
        counter: ['SEARCH petstore_quota USING INDEX sqlite_autoindex_petstore_quota_1 (subject=?)'],
      })
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

    on('issues keys of the plans that the host names', async ({ database }) => {
      const { keyStore } = sqlite(database, { plans: ['gold'] })
      assert.equal((await keyStore.issue({ plan: 'gold' })).key.plan, 'gold')
      await assert.rejects(keyStore.issue({ plan: 'silver' }), { code: 'invalid_option' })
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

function spending(subject: string, now: number): QuotaRequest {
  return { subject, anonymous: true, limits: { perMinute: 60, perDay: 1_000 }, ban: false, now }
}

async function createWithKey(storage: PetStorage, key: string, name = REX.name): Promise<CreatedPet> {
  const idempotency = { scope: 'account:acme', key, fingerprint: '7 sold Rex' }
  return storage.create({ ...REX, name }, { idempotency })
}
