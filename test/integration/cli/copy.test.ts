import Database from 'libsql'
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { postgres } from '../../../adapters/back-ends/postgres/index.ts'
import { sqlite } from '../../../adapters/back-ends/sqlite/index.ts'
import { createPetStore, type ManagedBackEnd, type PetStorage } from '../../../src/index.ts'
import { temporaryFolder } from '../../conformance/sqlite/open.ts'
import { type Ended, runPetstore } from '../../support/petstore-command.ts'
import { noPostgres, usePostgres } from '../../support/use-postgres.ts'

const { folder, remove } = temporaryFolder()
afterAll(remove)

let files = 0
/** Opens a new SQLite file, which is closed at the end of the test. */
function openFile() {
  files += 1
  const path = `${folder}/${files}.db`
  const database = new Database(path)
  onTestFinished(() => void database.close())
  return { address: path, ...sqlite(database, { onError: () => {} }) }
}

const copy = (from: string, to: string, ...flags: string[]) =>
  runPetstore(['copy', '--from', from, '--to', to, ...flags])
const resultOf = ({ stdout }: Ended) => JSON.parse(stdout)
const EQUAL = { missing: 0, different: 0, superfluous: 0 }

const REX = { name: 'Rex', categoryId: 9007199254740993n, status: 'available' } as const
const onceOf = (key: string) => ({ idempotency: { scope: 'account:Zoë 🐕', key, fingerprint: 'a "fingerprint"' } })
const spending = (subject: string) => ({
  subject,
  anonymous: subject.startsWith('address:'),
  limits: { perMinute: 1, perDay: 9 },
  ban: { afterRefusals: 2, seconds: 3_600 },
  now: Date.now(),
})

/** Fills a store with one of each kind of row. */
async function fill({ storage, keyStore, quota }: ManagedBackEnd) {
  for (let i = 0; i < 1_203; i++) await storage.create({ ...REX, name: `Rex ${i}` })
  await storage.create(REX, onceOf('order-1'))
  await storage.update?.(1204n, { status: 'sold' })
  const { id } = await storage.create(REX)
  await storage.remove?.(id)
  const issued = await keyStore.issue({ plan: 'enterprise', account: 'Zoë 🐕', limits: { perMinute: 7, perDay: 9 } })
  const { key: revoked } = await keyStore.issue({ plan: 'free', label: '\uff5e', expiresAt: Date.now() + 1e9 })
  await keyStore.revoke(revoked.id)
  const { key: other } = await keyStore.issue({ plan: 'pro', access: 'read', account: 'Zoë 🐕' })
  await keyStore.rotate(issued.key.id, { overlapSeconds: 3_600 })
  await keyStore.suspend(other.id)
  await keyStore.recordUse([issued.key.id, other.id], '2026-01-31')
  for (const subject of ['account:Zoë 🐕', 'account:\uff5e', 'address:192.0.2.1'])
    for (let i = 0; i < 3; i++) await quota.spend(spending(subject))
  return issued
}

async function allOf(storage: PetStorage) {
  const pets = []
  for await (const pet of createPetStore({ storage }).pets.all()) pets.push(pet)
  return pets
}

async function expectEqual(source: ManagedBackEnd, target: ManagedBackEnd, token: string) {
  expect(await allOf(target.storage)).toEqual(await allOf(source.storage))
  expect(await target.keyStore.list({ limit: 1_000 })).toEqual(await source.keyStore.list({ limit: 1_000 }))
  const [rotated, , suspended] = await target.keyStore.list({ limit: 3 })
  expect(rotated).toMatchObject({ lastUsedOn: '2026-01-31', previousTokenExpiresAt: expect.any(Number) })
  expect(suspended).toMatchObject({ access: 'read', suspendedAt: expect.any(Number), lastUsedOn: '2026-01-31' })
  // This is the token before the rotation.
  expect(await target.keyStore.find(token)).toMatchObject({ account: 'Zoë 🐕', tokenExpiresAt: expect.any(Number) })
  for (const subject of ['account:Zoë 🐕', 'account:\uff5e', 'address:192.0.2.1']) {
    const request = spending(subject)
    const [copied, original] = [await target.quota.peek?.(request), await source.quota.peek?.(request)]
    expect({ ...copied, now: 0 }).toEqual({ ...original, now: 0 })
  }
  expect((await target.quota.peek?.(spending('account:\uff5e')))?.bannedUntil).toBeGreaterThan(0)
  const repeat = await target.storage.create(REX, onceOf('order-1'))
  expect(repeat).toEqual({ ...REX, id: 1204n, earlier: 'same' })
  expect(await target.storage.create(REX)).toMatchObject({ id: 1206n })
}

test('a copy to another SQLite file has the same animals, keys, counts and bans', async () => {
  const [source, target] = [openFile(), openFile()]
  const { token } = await fill(source)
  expect(await copy(source.address, target.address)).toMatchObject({ code: 0 })
  expect(await copy(source.address, target.address, '--verify')).toMatchObject({ code: 0 })
  await expectEqual(source, target, token)
})

test('a second copy takes over what was added, changed and removed, and --verify counts it', async () => {
  const [source, target] = [openFile(), openFile()]
  await fill(source)
  await target.storage.create({ ...REX, name: 'of the target' })
  await target.keyStore.issue({ plan: 'free' })
  const first = resultOf(await copy(source.address, target.address, '--json'))
  expect([first.tables.pets.different, first.tables.keys.superfluous]).toEqual([1, 1])
  await source.storage.update?.(2n, { name: 'Ada' })
  await source.storage.remove?.(3n)
  await source.storage.create(REX)
  const verified = await copy(source.address, target.address, '--verify', '--json')
  const changed = { rows: 1_204, missing: 1, different: 1, superfluous: 1 }
  expect(verified.code).toBe(1)
  expect(resultOf(verified)).toMatchObject({ equal: false, tables: { pets: changed, keys: { rows: 3, ...EQUAL } } })
  expect(resultOf(await copy(source.address, target.address, '--json')).tables.pets).toEqual(changed)
  expect(await allOf(target.storage)).toEqual(await allOf(source.storage))
})

test('copy refuses an empty source, so that exchanged flags remove nothing', async () => {
  const [source, target] = [openFile(), openFile()]
  await target.storage.create(REX)
  const ended = await copy(source.address, target.address)
  expect([ended.code, ended.stderr]).toEqual([1, expect.stringContaining('is empty, and')])
  expect(await target.storage.count?.()).toBe(1)
})

test.each([
  ['a source that is missing', ['--from', `${folder}/none.db`, '--to', `${folder}/other.db`], 'there is no file'],
  ['the same store twice', ['--from', 'pets.db', '--to', 'pets.db'], 'are the same store'],
])('copy rejects %s', async (_, flags, message) => {
  const { code, stderr } = await runPetstore(['copy', ...flags])
  expect([code, stderr]).toEqual([1, expect.stringContaining(message)])
})

describe.skipIf(noPostgres)('with PostgreSQL', () => {
  const database = usePostgres()
  beforeEach(() => database.renew())
  const open = () => ({ address: database.url, ...postgres(database.pool) })

  test.each([
    ['from SQLite to PostgreSQL', () => [openFile(), open()] as const],
    ['from PostgreSQL to SQLite', () => [open(), openFile()] as const],
  ])('a copy %s has the same animals, keys, counts and bans', async (_, openBoth) => {
    const [source, target] = openBoth()
    const { token } = await fill(source)
    expect(await copy(source.address, target.address)).toMatchObject({ code: 0 })
    expect(await copy(source.address, target.address, '--verify')).toMatchObject({ code: 0 })
    await expectEqual(source, target, token)
  })

  test.each([
    ['from SQLite to PostgreSQL', () => [openFile(), open()] as const],
    ['from PostgreSQL to SQLite', () => [open(), openFile()] as const],
  ])('a copy %s under load, and one after it, lose no acknowledged animal and no repeat', async (_, openBoth) => {
    const [source, target] = openBoth()
    const acknowledged: { id: bigint; key: string }[] = []
    let isServing = true
    const serve = async (client: number) => {
      for (let i = 0; isServing; i++) {
        const key = `${client}.${i}`
        const { id } = await source.storage.create(REX, onceOf(key))
        acknowledged.push({ id, key })
        if (i % 3 === 0) await source.storage.update?.(id, { status: 'sold' })
      }
    }
    const clients = Promise.all([0, 1, 2].map(serve))
    expect(await copy(source.address, target.address)).toMatchObject({ code: 0 })
    isServing = false
    await clients
    expect(await copy(source.address, target.address)).toMatchObject({ code: 0 })
    expect(await allOf(target.storage)).toEqual(await allOf(source.storage))
    expect(acknowledged.length).toBeGreaterThan(0)
    for (const { id, key } of acknowledged.filter((_, i) => i % 50 === 0))
      expect(await target.storage.create(REX, onceOf(key))).toEqual({ ...REX, id, earlier: 'same' })
  })

  test('no message contains the password of a URL', async () => {
    const url = database.url.replace('petstore@', 'petstore:s3cr3t-word@').replace(/\/[^/]*$/, '/none')
    const { code, stderr } = await copy(url, `${folder}/new.db`)
    expect([code, stderr.includes('s3cr3t-word')]).toEqual([1, false])
  })
})
