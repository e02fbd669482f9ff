import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Libsql from 'libsql'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { postgres } from '../../../adapters/back-ends/postgres/index.ts'
import { sqlite } from '../../../adapters/back-ends/sqlite/index.ts'
import { createPetStore, type KeyCacheOptions, type ManagedBackEnd } from '../../../src/index.ts'
import { manualClock } from '../../../src/testing/index.ts'
import { temporaryFolder } from '../../conformance/sqlite/open.ts'
import { runPetstore, startCommand } from '../../support/petstore-command.ts'
import { noPostgres, usePostgres } from '../../support/use-postgres.ts'

interface TestStore {
  /** An empty folder. */
  readonly folder: string
  /** The flag of the database. */
  readonly flags: readonly string[]
  /** Opens the database in this process, beside the command. */
  open(keyCache?: KeyCacheOptions | false): ManagedBackEnd
}

const LIMITS = { perMinute: 7, perDay: 70 }

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

function describeKeys(newStore: () => TestStore) {
  let store: TestStore

  beforeEach(() => {
    store = newStore()
  })

  const run = (...args: string[]) => runPetstore(['keys', ...args, ...store.flags])

  /** Runs a command that succeeds. Returns its standard output. */
  async function output(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await run(...args)
    expect({ code, stderr }).toMatchObject({ code: 0 })
    return stdout
  }

  async function issue(...flags: string[]) {
    return JSON.parse(await output('issue', '--plan', 'pro', '--json', ...flags))
  }

  async function listed(...flags: string[]) {
    return JSON.parse(await output('list', '--json', ...flags))
  }

  /** Writes a file, and returns its path. */
  function write(lines: readonly (string | undefined)[]): string {
    const path = join(store.folder, 'keys.jsonl')
    writeFileSync(path, lines.join('\n'))
    return path
  }

  async function expectError(args: readonly string[], message: string | RegExp) {
    const { code, stdout, stderr } = await run(...args)
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^petstore: [^\n]+\n$/)
    expect(stderr).toMatch(message)
  }

  test('issue accepts the plan enterprise with the limits of --plan-limits', async () => {
    const { key } = await issue('--plan', 'enterprise', '--plan-limits', 'enterprise=10/100')
    expect(key).toEqual({ id: key.id, plan: 'enterprise', createdAt: expect.any(Number) })
    expect(await output('usage', key.id, '--plan-limits', 'enterprise=10/100')).toContain('0 of 10 used')
    await expectError(
      ['usage', key.id],
      /^petstore: --plan-limits: .* plan enterprise .* --plan-limits enterprise=10\/100$/m,
    )
    expect(await output('unban', key.id)).toContain('its counts begin at zero')
  })

  test('update makes a key read-only, and lets it write again', async () => {
    const { key } = await issue('--read-only')
    expect(key.access).toBe('read')
    expect(JSON.parse(await output('update', key.id, '--json', '--no-read-only'))).toMatchObject({ access: 'write' })
    expect(await output('update', key.id, '--read-only')).toMatch(/^key_\w+ +active +pro +read /m)
  })

  test.each([
    ['2030-01-31', Date.UTC(2030, 0, 31)],
    ['2030-01-31T12:00+01:00', Date.UTC(2030, 0, 31, 11)],
    ['1896091200000', 1_896_091_200_000],
  ])('issue --expires accepts %s', async (text, time) => {
    expect((await issue('--expires', text)).key.expiresAt).toBe(time)
  })

  test('issue accepts a time in the past, and says that the key has expired', async () => {
    const { code, stderr } = await run('issue', '--plan', 'pro', '--expires', '2020-01-31')
    expect([code, stderr]).toEqual([0, expect.stringContaining('has expired already, at 2020-01-31T00:00:00.000Z')])
    expect(await listed('--state', 'expired')).toHaveLength(1)
  })

  test('list selects keys by account and state, and shows when they were used', async () => {
    const used = await issue('--account', 'acme')
    const suspended = await issue('--account', 'acme')
    await issue('--account', 'other')
    await store.open().keyStore.recordUse([used.key.id], '2026-01-31')
    await output('suspend', suspended.key.id)
    const ids = async (...flags: string[]) => (await listed(...flags)).map(({ id }: { id: string }) => id)
    expect(await ids('--account', 'acme')).toEqual([used.key.id, suspended.key.id])
    expect(await ids('--account', 'acme', '--state', 'suspended')).toEqual([suspended.key.id])
    const table = await output('list', '--state', 'active', '--account', 'acme')
    expect(table.split('\n')).toEqual([
      expect.stringMatching(/^ID +STATE +PLAN +ACCESS +LIMITS +ACCOUNT +ISSUED +EXPIRES +LAST USED +LABEL$/),
      expect.stringMatching(new RegExp(`^${used.key.id}  active  pro   write   -       acme  .*  -  +2026-01-31$`)),
      '',
    ])
    expect(await output('list', '--state', 'revoked')).toBe('No keys were found.\n')
    expect(await listed('--state', 'revoked')).toEqual([])
    await expectError(['list', '--state', 'valid'], 'active, suspended, expired, revoked')
  })

  test('rotate prints a new token alone, and the previous one stays valid for the overlap', async () => {
    const first = await issue('--account', 'acme')
    const { code, stdout, stderr } = await run('rotate', first.key.id, '--overlap', '3600')
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^pet_\w+\n$/)])
    const { keyStore } = store.open(false)
    const previous = await keyStore.find(first.token)
    expect(stderr).toContain(`is valid until ${new Date(previous?.tokenExpiresAt ?? 0).toISOString()}`)
    expect(await keyStore.find(stdout.trim())).toMatchObject({ id: first.key.id, account: 'acme' })

    const { token } = JSON.parse(await output('rotate', first.key.id, '--json'))
    expect(await keyStore.find(first.token)).toBeUndefined()
    expect(await keyStore.find(stdout.trim())).toBeUndefined()
    expect(await keyStore.find(token)).toMatchObject({ id: first.key.id })
  })

  test('a rotation whose token cannot be printed revokes nothing, and says what to do', async () => {
    const { token, key } = await issue()
    const args = ['keys', 'rotate', key.id, '--overlap', '60', ...store.flags]
    const child = startCommand(args, ['ignore', 'pipe', 'pipe'])
    child.stdout?.destroy()
    let text = ''
    child.stderr?.on('data', (chunk) => {
      text += chunk
    })
    const [code] = await once(child, 'close')
    expect([code, text]).toEqual([1, expect.stringContaining(`run petstore keys rotate ${key.id} again`)])
    expect(await store.open().keyStore.find(token)).toMatchObject({ id: key.id })
  })

  test('a process that serves applies suspend and resume within the life of its cache', async () => {
    const { token, key } = await issue()
    const clock = manualClock()
    const server = createPetStore({ ...store.open({ clock }) })
    const status = async () => {
      const headers = { authorization: `Bearer ${token}` }
      return (await server.fetch(new Request('http://127.0.0.1/v1/pets', { headers }))).status
    }
    expect(await status()).toBe(200)
    expect(await output('suspend', key.id)).toContain('within 30 seconds')
    clock.advance(30_000)
    expect(await status()).toBe(401)
    expect(await output('resume', key.id)).toContain('within 30 seconds')
    clock.advance(30_000)
    expect(await status()).toBe(200)
    expect(await output('rotate', key.id)).toMatch(/^pet_/)
    clock.advance(30_000)
    expect(await status()).toBe(401)
  })

  test('purge removes what had ended before a day, and nothing when it is run again', async () => {
    const backEnd = store.open()
    const issueAt = (expiresAt?: string) => backEnd.keyStore.issue({ plan: 'pro', expiresAt })
    for (let i = 0; i < 120; i++) await issueAt('2020-01-30T23:59Z')
    const lateKey = await issueAt('2020-01-31')
    const revoked = await issueAt('2999-01-31')
    const endedBefore = await issueAt('2020-01-30')
    for (const { key } of [revoked, endedBefore]) await backEnd.keyStore.revoke(key.id)
    const valid = await issueAt()
    const purge = () => output('purge', '--ended-before', '2020-01-31')
    expect(await purge()).toBe('Removed 121 keys that had ended before 2020-01-31T00:00:00.000Z.\n')
    expect(await purge()).toBe('Removed 0 keys that had ended before 2020-01-31T00:00:00.000Z.\n')
    const ids = (await listed()).map(({ id }: { id: string }) => id)
    expect(ids).toEqual([lateKey, revoked, valid].map(({ key }) => key.id))
  })

  test('import adds keys for the tokens of customers, and leaves out those that exist', async () => {
    const tokens = Array.from({ length: 120 }, (_, i) => `sk.live/${i}=`)
    const lines = tokens.map((token) => JSON.stringify({ tokenSha256: hashOf(token), plan: 'gold', account: token }))
    const expiring = { plan: 'pro', label: 'a', access: 'read', expiresAt: '2999-01-31', limits: LIMITS }
    const file = write([
      ...lines,
      '',
      JSON.stringify({ tokenSha256: hashOf('last').toUpperCase(), ...expiring }),
      lines[0],
    ])
    const add = () => output('import', file, '--plan-limits', 'gold=7/70')
    expect(await add()).toBe('Added 121 keys. Left out 1 key whose tokens exist.\n')
    expect(await add()).toBe('Added 0 keys. Left out 122 keys whose tokens exist.\n')
    const { keyStore } = store.open()
    for (const token of [tokens[0], tokens[119]] as string[])
      expect(await keyStore.find(token)).toMatchObject({ plan: 'gold', account: token })
    expect(await keyStore.find('last')).toMatchObject({ ...expiring, expiresAt: Date.UTC(2999, 0, 31) })
    expect((await listed()).map(({ account }: { account?: string }) => account)).toEqual([...tokens, undefined])
  })

  test('import names each wrong line, adds nothing, and prints no token', async () => {
    const tokenSha256 = hashOf('valid')
    const wrong = [
      { tokenSha256: 'secret', plan: 'pro' },
      { tokenSha256, plan: 'secret' },
      { tokenSha256, plan: 'pro', secret: 'secret' },
      { tokenSha256, plan: 'pro', access: 'secret', expiresAt: 'secret', limits: { secret: 1 } },
      ['secret'],
      { plan: 'enterprise' },
    ]
    const file = write([...[{ tokenSha256, plan: 'pro' }, ...wrong].map((line) => JSON.stringify(line)), 'secret'])
    const { code, stdout, stderr } = await run('import', file)
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr.replaceAll(file, 'keys.jsonl').split('\n')).toEqual([
      'keys.jsonl, line 2: tokenSha256: expected the SHA-256 of the token in hexadecimal, which has 64 digits',
      expect.stringMatching(/line 3: plan: expected one of free, pro, .*--plan-limits gold=10\/100/),
      expect.stringMatching(/line 4: expected no other members than tokenSha256, plan, account, /),
      expect.stringMatching(
        /line 5: limits\.perMinute: expected .*; access: expected read or write; expiresAt: expected /,
      ),
      'keys.jsonl, line 6: expected an object with tokenSha256 and plan',
      expect.stringMatching(/line 7: tokenSha256: expected the SHA-256/),
      'keys.jsonl, line 8: cannot be read as JSON',
      'petstore: 7 of 8 keys cannot be added, so none was added: correct them',
      '',
    ])
    expect(stderr).not.toContain('secret')
    expect(await store.open().keyStore.list({ limit: 1 })).toEqual([])
  })

  test('a command for one key rejects an unknown id and a revoked key, and prints no token', async () => {
    const { key } = await issue()
    await output('revoke', key.id)
    const unknown = 'petstore: there is no key with this id: petstore keys list shows the ids\n'
    for (const command of ['update', 'rotate', 'suspend', 'resume', 'revoke', 'usage', 'unban']) {
      const flags = command === 'update' ? ['--no-label'] : []
      // A customer's token of another form may look like an id.
      expect(await run(command, 'key_live_secret', ...flags)).toEqual({ code: 1, stdout: '', stderr: unknown })
      if (command === 'usage' || command === 'unban') continue
      await expectError([command, key.id, ...flags], `the key ${key.id} is already revoked`)
    }
    await expectError(['suspend', 'pet_secret'], /got a token$/m)
  })
}

function newFolder(): string {
  const { folder, remove } = temporaryFolder()
  onTestFinished(remove)
  return folder
}

describe('on SQLite', () => {
  describeKeys(() => {
    const folder = newFolder()
    const path = join(folder, 'pets.db')
    return {
      folder,
      flags: ['--data', path],
      open: (keyCache) => {
        const database = new Libsql(path)
        onTestFinished(() => void database.close())
        return sqlite(database, { keyCache, onError: () => {} })
      },
    }
  })
})

describe.skipIf(noPostgres)('on PostgreSQL', () => {
  const database = usePostgres()
  beforeEach(() => database.renew())
  describeKeys(() => ({
    folder: newFolder(),
    flags: ['--database-url', database.url],
    open: (keyCache) => postgres(database.pool, { keyCache }),
  }))
})
