import type { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postgres } from '../../../adapters/back-ends/postgres/index.ts'
import { expectKept, startProcesses } from '../../support/crash-processes.ts'
import { missingForPatroni, type PatroniCluster, startPatroni } from '../../support/patroni.ts'
import { openPool } from '../../support/postgres-back-end.ts'
import { missing } from '../../support/skips.ts'
import { buildWorker } from '../../support/worker-process.ts'

/** `FAILOVERS=10 npm run failover` fails over ten times. */
const FAILOVERS = Number(process.env.FAILOVERS ?? 2)
/** How many animals are acknowledged before and after each failover. */
const LOAD = 500

const needs = await missingForPatroni()

describe.skipIf(missing(needs.join(', '), needs.length === 0, { optional: true }))('a cluster of Patroni', () => {
  let cluster: PatroniCluster
  let pool: Pool
  let worker: Awaited<ReturnType<typeof buildWorker>>
  beforeAll(async () => {
    ;[cluster, worker] = await Promise.all([startPatroni(), buildWorker('crash-worker')])
    pool = openPool(cluster.url)
    await postgres(pool).migrate()
  })
  afterAll(async () => {
    await pool?.end()
    await Promise.all([cluster?.remove(), worker?.remove()])
  })

  for (let failover = 0; failover < FAILOVERS; failover++) {
    const isKilled = failover % 2 === 0
    const title = isKilled ? 'kill -9 of the leader' : 'switchover'
    test(`no animal and no key is lost, doubled or skipped: failover ${failover + 1}, ${title}`, async () => {
      await cluster.isComplete()
      const processes = startProcesses(worker.program, cluster.url, `${failover}`)
      try {
        await processes.acknowledge(LOAD)
        const restart = isKilled ? await cluster.killLeader() : await cluster.switchOver()
        await processes.acknowledge(LOAD)
        await restart?.()
        await cluster.isComplete()
        await processes.acknowledge(LOAD)
        await processes.stop()
        await expectKept(pool, processes.observed)
        expect(processes.problems).toEqual([])
      } finally {
        await processes.kill()
      }
    })
  }
})
