import { open } from 'node:fs/promises'
import type { Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { postgres } from '../../../adapters/back-ends/postgres/index.ts'
import { expectKept, type Observed, startProcesses } from '../../support/crash-processes.ts'
import { openPool } from '../../support/postgres-back-end.ts'
import { type PostgresServer, postgresPrograms, startPostgres, startStandby } from '../../support/postgres-server.ts'
import { missing } from '../../support/skips.ts'
import { startTcpProxy } from '../../support/tcp-proxy.ts'
import { buildWorker } from '../../support/worker-process.ts'

/** `CRASHES=50 npm run crashes` makes PostgreSQL crash 50 times. */
const CRASHES = Number(process.env.CRASHES ?? 10)
const KINDS = ['immediate stop', 'kill -9', 'zeroed log'] as const
/** How many animals are acknowledged before and after each crash. */
const LOAD = 150

/**
 * Changed pages stay in memory, because a page on disk may be newer than a log that the test has zeroed. The log is written only
 * by commits, so that a commit that does not wait for the disk is noticed.
 */
const SETTINGS = {
  bgwriter_lru_maxpages: '0',
  checkpoint_timeout: '1h',
  max_wal_size: '4GB',
  autovacuum: 'off',
  wal_writer_delay: '10s',
}

describe.skipIf(missing('PostgreSQL', (await postgresPrograms()) !== undefined))('crashes of PostgreSQL', () => {
  let server: PostgresServer
  let pool: Pool
  let worker: Awaited<ReturnType<typeof buildWorker>>
  beforeAll(async () => {
    ;[server, worker] = await Promise.all([startPostgres({ settings: SETTINGS }), buildWorker('crash-worker')])
    pool = openPool(server.url)
  })
  beforeEach(async () => {
    await pool.query('DROP SCHEMA IF EXISTS petstore CASCADE')
    await postgres(pool).migrate()
  })
  afterAll(async () => {
    await pool.end()
    await Promise.all([server.remove(), worker.remove()])
  })

  /** Stops the server and zeroes its log behind the place that was on disk when `observed` was complete, as a power failure may. */
  async function crashAndZeroLog(snapshot: () => Observed): Promise<Observed> {
    const observed = snapshot()
    const { rows } = await pool.query('SELECT * FROM pg_walfile_name_offset(pg_current_wal_flush_lsn())')
    const [{ file_name: file, file_offset: offset }] = rows
    await server.stop('kill')
    const log = await open(`${server.log}/${file}`, 'r+')
    const { size } = await log.stat()
    await log.write(Buffer.alloc(size - offset), 0, size - offset, offset)
    await log.close()
    return observed
  }

  for (let crash = 0; crash < CRASHES; crash++) {
    const kind = KINDS[crash % KINDS.length] as (typeof KINDS)[number]
    test(`no animal and no key is lost, doubled or skipped: crash ${crash + 1}, ${kind}`, async () => {
      const processes = startProcesses(worker.program, server.url, `${crash}`)
      try {
        await processes.acknowledge(LOAD)
        if (kind === 'zeroed log') {
          const observed = await crashAndZeroLog(processes.snapshot)
          // The processes have also seen animals that were not on disk yet when the log was zeroed.
          await processes.kill()
          await server.start()
          expect(observed.animals.size).toBeGreaterThanOrEqual(LOAD / 2)
          await expectKept(pool, observed)
        } else {
          await server.stop(kind === 'kill -9' ? 'kill' : 'crash')
          await server.start()
          await processes.acknowledge(LOAD)
          await processes.stop()
          await expectKept(pool, processes.observed)
        }
        expect(processes.problems).toEqual([])
      } finally {
        await processes.kill()
      }
    })
  }

  test('a zeroed log shows that commits did not wait for the disk', async () => {
    const careless = `${server.url}?options=-c%20synchronous_commit%3Doff`
    const processes = startProcesses(worker.program, careless, 'careless')
    try {
      await processes.acknowledge(LOAD)
      const observed = await crashAndZeroLog(processes.snapshot)
      await processes.kill()
      await server.start()
      await expect(expectKept(pool, observed)).rejects.toThrow()
    } finally {
      await processes.kill()
    }
  })

  test('a failover to a synchronous standby under load loses, doubles and skips no animal', async () => {
    const primary = await startPostgres()
    const standby = await startStandby(primary)
    const proxy = await startTcpProxy(primary.port)
    const admin = openPool(primary.url)
    const promoted = openPool(standby.url)
    const processes = { current: undefined as ReturnType<typeof startProcesses> | undefined }
    try {
      await postgres(admin).migrate()
      await admin.query("ALTER SYSTEM SET synchronous_standby_names = '*'")
      await admin.query('SELECT pg_reload_conf()')
      processes.current = startProcesses(
        worker.program,
        primary.url.replace(`:${primary.port}`, `:${proxy.port}`),
        'failover',
      )
      await processes.current.acknowledge(LOAD)
      await primary.stop('kill')
      proxy.redirect(standby.port)
      await promoted.query('SELECT pg_promote()')
      await processes.current.acknowledge(LOAD)
      await processes.current.stop()
      await expectKept(promoted, processes.current.observed)
      expect(processes.current.problems).toEqual([])
    } finally {
      await processes.current?.kill()
      proxy.close()
      await Promise.all([admin.end(), promoted.end()])
      await Promise.all([primary.remove(), standby.remove()])
    }
  })
})
