import { execFile } from 'node:child_process'
import { readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Redis } from 'ioredis'
import Database from 'libsql'
import { describe, expect, onTestFinished, test } from 'vitest'
import { postgres } from '../../../adapters/back-ends/postgres/index.ts'
import { redis } from '../../../adapters/back-ends/redis/index.ts'
import { sqlite } from '../../../adapters/back-ends/sqlite/index.ts'
import type { Pet, PetStorage } from '../../../src/index.ts'
import { temporaryFolder } from '../../conformance/sqlite/open.ts'
import { COMMAND, runPetstore } from '../../support/petstore-command.ts'
import { openPool } from '../../support/postgres-back-end.ts'
import { postgresPrograms, startPostgres } from '../../support/postgres-server.ts'
import { missingRedis, startRedis } from '../../support/redis-server.ts'
import { findProgram } from '../../support/server-process.ts'
import { missing } from '../../support/skips.ts'

/** Adds animals until `stop` is called. `added` contains every animal whose `create` has resolved. */
function addSteadily(storage: PetStorage): { added: Pet[]; stop: () => Promise<void> } {
  const added: Pet[] = []
  let isStopped = false
  const adding = (async () => {
    while (!isStopped) {
      added.push(await storage.create({ name: `Pet ${added.length}`, categoryId: 1n, status: 'available' }))
      await new Promise((resolve) => setImmediate(resolve))
    }
  })()
  const stop = () => {
    isStopped = true
    return adding
  }
  onTestFinished(stop)
  return { added, stop }
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve))
}

/** Lists every page of a storage, and returns all animals. */
async function allPets(storage: PetStorage): Promise<Pet[]> {
  const pets: Pet[] = []
  for (;;) {
    const page = await storage.list({ limit: 100, after: pets.at(-1)?.id })
    pets.push(...page)
    if (page.length < 100) return pets
  }
}

/** Checks that a backup contains every animal that was created before the backup began, and no incomplete animal. */
async function expectBackup(restored: PetStorage, before: readonly Pet[], added: readonly Pet[]): Promise<void> {
  const pets = await allPets(restored)
  expect(pets.slice(0, before.length)).toEqual(before)
  expect(pets).toEqual(added.slice(0, pets.length))
  const next = await restored.create({ name: 'after the restore', categoryId: 1n, status: 'available' })
  expect(next.id).toBeGreaterThan(pets.at(-1)?.id ?? 0n)
}

test('petstore backup makes a complete copy of a SQLite file in use', async () => {
  const { folder, remove } = temporaryFolder()
  onTestFinished(() => remove())
  const data = join(folder, 'pets.db')
  const database = new Database(data)
  const served = sqlite(database)
  const { token, key } = await served.keyStore.issue({ plan: 'pro' })
  const { added, stop } = addSteadily(served.storage)
  await until(() => added.length >= 300)
  const before = [...added]
  const copy = join(folder, "the store's copy.db")
  const backup = () => runPetstore(['backup', copy, '--data', data])
  await writeFile(`${copy}.partial`, 'half a copy')
  const refused = await backup()
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(`${copy}.partial exists already`)])
  expect(await readFile(`${copy}.partial`, 'utf8')).toBe('half a copy')
  await rm(`${copy}.partial`)
  expect(await backup()).toEqual({ code: 0, stdout: `Copied ${data} to ${copy}.\n`, stderr: expect.any(String) })
  expect(added.length).toBeGreaterThan(before.length)
  await stop()
  database.close()

  const again = await backup()
  expect([again.code, again.stderr]).toEqual([1, `petstore: ${copy} exists already: give the name of a new file\n`])
  const link = join(folder, 'link.db')
  await symlink(join(folder, 'nowhere'), link)
  expect(await runPetstore(['backup', link, '--data', data])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('exists'),
  })
  expect((await readdir(folder)).filter((name) => name.includes('partial'))).toEqual([])
  for (const log of ['-wal', '-shm']) await rm(data + log, { force: true })
  await rename(copy, data)
  const restored = sqlite(new Database(data))
  await expectBackup(restored.storage, before, added)
  expect(await restored.keyStore.find(token)).toEqual(key)
})

test.each([
  ['a file that is missing', 'none.db', /^petstore: there is no file /],
  ['another file', 'notes.txt', /^petstore: cannot copy \S+notes.txt to \S+copy.db: file is not a database\n$/],
  ['another database', 'other.db', /^petstore: cannot copy \S+ to \S+: \S+ contains no pet store\n$/],
])('petstore backup refuses to copy %s', async (_title, name, message) => {
  const { folder, remove } = temporaryFolder()
  onTestFinished(() => remove())
  await writeFile(join(folder, 'notes.txt'), 'not a database '.repeat(100))
  new Database(join(folder, 'other.db')).exec('CREATE TABLE notes (text)')
  const { code, stderr } = await runPetstore(['backup', join(folder, 'copy.db'), '--data', join(folder, name)])
  expect([code, stderr]).toEqual([1, expect.stringMatching(message)])
  expect((await readdir(folder)).filter((name) => name.startsWith('copy'))).toEqual([])
})

test.each([
  ['no file to copy is given', [], 'give --data <file>, the SQLite file to copy; for PostgreSQL, use pg_dump'],
  ['the folder for the copy does not exist', ['--data', import.meta.filename], 'there is no folder none'],
])('petstore backup says what to do if %s', async (_title, flags, message) => {
  const { code, stderr } = await runPetstore(['backup', join('none', 'copy.db'), ...flags])
  expect([code, stderr]).toEqual([1, `petstore: ${message}\n`])
})

/** Adds keys by SQL. The ids of those that are revoked begin with `key_r`. */
function addKeys(database: Database.Database, count: number): void {
  database.exec(`WITH RECURSIVE numbers (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
    INSERT INTO petstore_keys (id, token_sha256, plan, created_at, revoked_at)
    SELECT iif(n % 2, 'key_r', 'key_v') || printf('%015d', n), printf('%064x', n), 'pro', 0, iif(n % 2, 0, NULL) FROM numbers`)
}

describe('the documented restore', () => {
  /** Returns a folder with `pets.db` and `backup.db`, and a function that runs the script of `docs/operating.md` there. */
  async function setUp() {
    const { folder, remove } = temporaryFolder()
    onTestFinished(() => remove())
    const data = join(folder, 'pets.db')
    const page = await readFile(join(import.meta.dirname, '../../../docs/operating.md'), 'utf8')
    const [, script = ''] = /^```bash\n([\s\S]*?)^```$/m.exec(page) ?? []
    const command = `petstore() { '${process.execPath}' '${COMMAND}' "$@"; }\n`
    const restore = () => promisify(execFile)('bash', ['-c', command + script], { cwd: folder })
    const backUp = () => runPetstore(['backup', join(folder, 'backup.db'), '--data', data])
    return { data, restore, backUp }
  }

  test('keeps revoked keys revoked among 130,000 keys', async () => {
    const { data, restore, backUp } = await setUp()
    const database = new Database(data)
    const { keyStore } = sqlite(database)
    const issue = () => keyStore.issue({ plan: 'pro' })
    const [kept, revoked, known] = [await issue(), await issue(), await issue()]
    addKeys(database, 130_000)
    await keyStore.revoke(known.key.id)
    await backUp()
    await keyStore.revoke(revoked.key.id)
    const late = await issue()
    await keyStore.revoke(late.key.id)
    database.close()

    const { stdout } = await restore()
    expect(stdout).toContain('Revoked 1 of 65,003 keys.')
    const restored = sqlite(new Database(data)).keyStore
    const found = await Promise.all([kept, revoked, known, late].map(({ token }) => restored.find(token)))
    expect(found.map((key) => key !== undefined)).toEqual([true, false, false, false])
  })

  test('replaces nothing if the old keys cannot be read', async () => {
    const { data, restore, backUp } = await setUp()
    const database = new Database(data)
    sqlite(database)
    await backUp()
    database.close()
    for (const log of ['-wal', '-shm']) await rm(data + log, { force: true })
    // Another file: the driver may still write to the one that it has closed.
    await writeFile(`${data}.new`, 'not a database '.repeat(100))
    await rename(`${data}.new`, data)

    await expect(restore()).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('nothing is replaced') })
    expect(await readFile(data, 'utf8')).toMatch(/^not a database/)
  })
})

const bin = await postgresPrograms()
const [pgDump, psql] = ['pg_dump', 'psql'].map((name) => findProgram(name, bin === undefined ? [] : [bin]))

/** The test configuration sets PGSSLMODE to an empty text, which the PostgreSQL programs reject. */
const env = { ...process.env, PGSSLMODE: 'disable' }

test.skipIf([missing('PostgreSQL', bin !== undefined), missing('pg_dump', pgDump !== undefined)].includes(true))(
  'pg_dump makes a complete copy of a PostgreSQL schema in use',
  async () => {
    const server = await startPostgres()
    onTestFinished(() => server.remove())
    const pool = openPool(server.url)
    onTestFinished(() => pool.end())
    const served = postgres(pool)
    await served.migrate()
    const { token, key } = await served.keyStore.issue({ plan: 'pro' })
    const { added, stop } = addSteadily(served.storage)
    await until(() => added.length >= 100)
    const before = [...added]
    const dumped = await promisify(execFile)(pgDump ?? '', ['--schema=petstore', server.url], { env })
    await until(() => added.length >= 200)
    await stop()

    await pool.query('CREATE DATABASE restored')
    const url = new URL(server.url)
    url.pathname = '/restored'
    const restoring = promisify(execFile)(
      psql ?? '',
      ['--quiet', '--single-transaction', '--set=ON_ERROR_STOP=1', url.href],
      { env },
    )
    restoring.child.stdin?.end(dumped.stdout)
    await restoring
    const other = openPool(url.href)
    onTestFinished(() => other.end())
    const restored = postgres(other)
    await restored.migrate()
    await expectBackup(restored.storage, before, added)
    expect(await restored.keyStore.find(token)).toEqual(key)
  },
)

test.skipIf(missingRedis())('Redis keeps its counts after a crash only with appendonly', async () => {
  const lastCount = async (settings: readonly string[]) => {
    const server = await startRedis({ settings })
    onTestFinished(() => server.remove())
    const client = new Redis(server.url, { maxRetriesPerRequest: null, retryStrategy: () => 20 })
    onTestFinished(() => client.disconnect())
    client.on('error', () => {})
    const { quota } = redis(client)
    const spend = () =>
      quota.spend({
        subject: 'key',
        anonymous: false,
        limits: { perMinute: 1_000, perDay: 1_000 },
        ban: false,
        now: Date.now(),
      })
    for (let i = 0; i < 5; i++) await spend()
    await server.stop()
    await server.start()
    return (await spend()).usedInDay
  }
  // By default, Redis delays a write while the disk is busy with the one before, so a crash could lose the last counts.
  expect(await lastCount(['--appendonly', 'yes', '--appendfsync', 'always'])).toBe(6)
  expect(await lastCount([])).toBe(1)
})
