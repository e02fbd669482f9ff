import { execFile, execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { postgres } from '../../../adapters/back-ends/postgres/index.ts'
import { createPetStore } from '../../../src/index.ts'
import { temporaryFolder } from '../../conformance/sqlite/open.ts'
import { openPool } from '../../support/postgres-back-end.ts'
import { type PostgresServer, postgresPrograms, startPostgres } from '../../support/postgres-server.ts'
import { findProgram } from '../../support/server-process.ts'
import { missing } from '../../support/skips.ts'

/** Mounts a 64 MB disk in memory. Only root may do this. */
function makeDisk(folder: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', folder])
}

function canMakeDisks(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false
  const unshare = findProgram('unshare')
  if (unshare === undefined) return false
  try {
    execFileSync(unshare, ['-m', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

const noServer = missing('PostgreSQL', (await postgresPrograms()) !== undefined)

/** True if this process has no permission to mount a disk. This test is optional in CI, because CI may lack the permission. */
const noDisk = missing('the right to mount a small disk', canMakeDisks(), { optional: true })

describe.skipIf(noServer || noDisk)('a full disk', () => {
  test('a full disk causes 503, and no data is lost', async () => {
    let disk = ''
    const prepare = async (data: string) => {
      makeDisk(data)
      disk = data
    }
    const server = await startPostgres({ prepare, settings: { autovacuum: 'off' } })
    try {
      await fillAndFree(server, disk)
    } finally {
      await server.stop('crash')
      execFileSync('umount', [disk])
      await server.remove()
    }
  })
})

describe('a SQLite file whose log a long reader has kept until no disk space was left', () => {
  test.skipIf(process.platform === 'win32')('is written again after the reader has gone', async () => {
    const { folder, remove } = temporaryFolder()
    onTestFinished(remove)
    const program = join(import.meta.dirname, 'programs/full-log.mjs')
    // The shell limits the size of each file to 2 MB. SQLite then fails as at the end of a disk quota.
    const command = ['-c', 'ulimit -f 2048; exec "$0" "$@"', process.execPath, program, join(folder, 'pets.db')]
    const { stdout } = await promisify(execFile)('bash', command)
    const { codes, stored, added } = JSON.parse(stdout)
    expect(codes).toEqual(['service_unavailable'])
    expect(stored).toBe(added)
  })
})

async function fillAndFree({ url }: PostgresServer, disk: string): Promise<void> {
  const pool = openPool(url)
  const backEnd = postgres(pool)
  await backEnd.migrate()
  const { token } = await backEnd.keyStore.issue({ plan: 'free' })
  const errors: unknown[] = []
  const plans = { free: { perMinute: 100_000, perDay: 100_000 } }
  const petStore = createPetStore({ ...backEnd, plans, maxNameLength: 100_000, onError: (error) => errors.push(error) })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  // Random text, which PostgreSQL cannot compress.
  const name = () => randomBytes(40_000).toString('base64')
  const add = () => {
    const init = { method: 'POST', headers, body: JSON.stringify({ name: name(), categoryId: 1 }) }
    return petStore.fetch(new Request('http://localhost/v1/pets', init))
  }
  const acknowledged: string[] = []
  let response = await add()
  for (; response.status === 201; response = await add()) acknowledged.push(String((await response.json()).id))
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5'])
  expect((errors[0] as { cause?: unknown }).cause).toMatchObject({ code: '53100' })
  execFileSync('mount', ['-o', 'remount,size=128m', disk])
  response = await add()
  expect(response.status).toBe(201)
  acknowledged.push(String((await response.json()).id))
  const { rows } = await pool.query<{ id: string }>('SELECT id FROM petstore.pets')
  // The animal of the POST that got 503 may have been added.
  expect(rows.map(({ id }) => id)).toEqual(expect.arrayContaining(acknowledged))
  expect(rows.length - acknowledged.length).toBeLessThanOrEqual(1)
  await pool.end()
}
