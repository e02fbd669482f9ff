import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postgres } from '../../../adapters/back-ends/postgres/index.ts'
import { runPetstore } from '../../support/petstore-command.ts'
import { openPool } from '../../support/postgres-back-end.ts'
import {
  type PostgresServer,
  postgresPrograms,
  startPostgres,
  unprivilegedUser,
} from '../../support/postgres-server.ts'
import { findProgram, freePort, type ServerProcess, startProcess } from '../../support/server-process.ts'
import { missing } from '../../support/skips.ts'

const program = findProgram('pgbouncer')
const noPostgres = missing('PostgreSQL', (await postgresPrograms()) !== undefined)

describe.skipIf(missing('pgbouncer', program !== undefined) || noPostgres)('through PgBouncer', () => {
  let server: PostgresServer
  let pooler: ServerProcess
  let folder: string
  let url: string
  beforeAll(async () => {
    server = await startPostgres()
    folder = await mkdtemp(join(tmpdir(), 'petstore-kit-pgbouncer-'))
    const port = await freePort()
    url = `postgres://petstore@127.0.0.1:${port}/postgres`
    const settings = [
      '[databases]',
      `postgres = host=127.0.0.1 port=${server.port} user=petstore`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = any',
      'pool_mode = transaction',
      'default_pool_size = 3',
    ]
    const file = join(folder, 'pgbouncer.ini')
    await writeFile(file, settings.join('\n'))
    const user = await unprivilegedUser()
    if (user !== undefined) await chown(folder, user.uid, user.gid)
    pooler = await startProcess(program as string, [file], /process up/, user)
  })
  afterAll(async () => {
    await pooler?.stop('SIGINT')
    await rm(folder, { recursive: true })
    await server.remove()
  })

  test('the PostgreSQL back end works with transaction pooling', async () => {
    const pool = openPool(url, { max: 12 })
    const backEnd = postgres(pool)
    await Promise.all(Array.from({ length: 6 }, () => backEnd.migrate()))
    const { token, key } = await backEnd.keyStore.issue({ plan: 'free' })
    expect(await backEnd.keyStore.find(token)).toEqual(key)
    const pet = { name: 'Rex', categoryId: 1n, status: 'available' } as const
    const created = await Promise.all(Array.from({ length: 60 }, () => backEnd.storage.create(pet)))
    expect(await backEnd.storage.list({ limit: 99 })).toHaveLength(created.length)
    const limits = { perMinute: 1_000, perDay: 20 }
    const request = { subject: 'key:a', anonymous: false, limits, ban: false, now: 0 } as const
    const counts = await Promise.all(Array.from({ length: 60 }, () => backEnd.quota.spend(request)))
    expect(counts.filter(({ granted }) => granted)).toHaveLength(20)
    await pool.end()
  })

  test('petstore keys issue works through PgBouncer if the URL ends with ?statement_timeout=', async () => {
    const issue = (address: string) => runPetstore(['keys', 'issue', '--plan', 'free', '--database-url', address])
    expect(await issue(url)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^petstore: cannot use .*: PgBouncer rejects .*: end --database-url with \?statement_timeout= /,
      ),
    })
    expect(await issue(`${url}?statement_timeout=`)).toMatchObject({ code: 0 })
  })

  test("a write waits at most lockTimeout, and does not change the connection's settings", async () => {
    const pool = openPool(url, { max: 12 })
    const { migrate, storage } = postgres(pool, { lockTimeout: 50 })
    await migrate()
    const host = new Client(server.url)
    await host.connect()
    await host.query('BEGIN')
    await postgres(host).storage.create({ name: 'of the host', categoryId: 1n, status: 'available' })
    const late = storage.create({ name: 'late', categoryId: 1n, status: 'available' })
    await expect(late).rejects.toMatchObject({ code: 'service_unavailable', cause: { code: '55P03' } })
    await host.query('ROLLBACK')
    await host.end()
    const settings = await Promise.all(Array.from({ length: 12 }, () => pool.query('SHOW lock_timeout')))
    expect(new Set(settings.map(({ rows }) => rows[0].lock_timeout))).toEqual(new Set(['0']))
    await pool.end()
  })
})
