import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { startBalancer } from '../../support/balancer.ts'
import { postgresPrograms } from '../../support/postgres-server.ts'
import { missingRedis, startRedis } from '../../support/redis-server.ts'
import { restartInTurn } from '../../support/rolling-restart.ts'
import { startProcess } from '../../support/server-process.ts'
import { missing } from '../../support/skips.ts'

const folder = join(import.meta.dirname, '../../../examples/production')
const program = join(folder, 'server.mjs')

/** A variable of the container. Without `value`, it comes from the secret. */
interface Variable {
  readonly name: string
  readonly value?: string
}

/** The parts of a container that the tests read. */
interface Container {
  readonly env: readonly Variable[]
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[]
  readonly startupProbe: Probe
  readonly readinessProbe: Probe
  readonly livenessProbe: Probe
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string }
}

/** The parts of the manifest that the tests read: a deployment, a service and a disruption budget. */
interface Manifest {
  readonly kind: string
  readonly spec: {
    readonly template: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> }
      readonly spec: { readonly terminationGracePeriodSeconds: number; readonly containers: readonly [Container] }
    }
    readonly selector: unknown
    readonly ports: readonly [{ readonly targetPort: string }]
  }
}

const documents = parseAllDocuments(await readFile(join(folder, 'kubernetes.yml'), 'utf8'))
const [deployment, service, budget] = documents.map((document) => document.toJS()) as [Manifest, Manifest, Manifest]
const pod = deployment.spec.template
const [container] = pod.spec.containers
const given = Object.fromEntries(
  container.env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])),
)

test('the parts of the Kubernetes manifest name each other and what the server has', async () => {
  const { labels } = pod.metadata
  expect([deployment, service, budget].map(({ kind, spec }) => [kind, spec.selector])).toEqual([
    ['Deployment', { matchLabels: labels }],
    ['Service', labels],
    ['PodDisruptionBudget', { matchLabels: labels }],
  ])
  expect(service.spec.ports[0].targetPort).toBe('http')
  const text = await readFile(program, 'utf8')
  for (const { name } of container.env) expect(text).toContain(`env.${name}`)
  const [http, metrics] = container.ports
  expect(text).toContain(`env.PORT ?? ${http?.containerPort}`)
  expect(text).toContain(`env.METRICS_PORT ?? ${metrics?.containerPort}`)
  // `closeTimeout` of `serve` is 10 seconds, and the server gives its engines 2 more.
  expect(pod.spec.terminationGracePeriodSeconds).toBeGreaterThan(Number(given.DRAIN_DELAY) / 1_000 + 12)
})

const noPostgres = missing('PostgreSQL', (await postgresPrograms()) !== undefined)
const engines = [
  { counts: 'in Redis', startCounts: startRedis, skipped: missingRedis() || noPostgres },
  { counts: 'in PostgreSQL', startCounts: undefined, skipped: noPostgres },
]

for (const { counts, startCounts, skipped } of engines) {
  test.skipIf(skipped)(
    `two processes of the manifest that count ${counts} restart without a failed request`,
    async () => {
      const redis = await startCounts?.()
      if (redis) onTestFinished(() => redis.remove())
      const { failed, added, stored } = await restartInTurn({
        startServer(port, databaseUrl) {
          const secret = { DATABASE_URL: databaseUrl, REDIS_URL: redis?.url }
          const env = { ...process.env, ...given, ...secret, PORT: String(port), METRICS_PORT: '0' }
          return startProcess(process.execPath, [program], /"serving"/, { env })
        },
        async startBalancer(ports) {
          const balancer = await startBalancer(ports)
          onTestFinished(() => balancer.close())
          for (const port of ports) {
            await balancer.isReady(port)
            for (const { httpGet } of [container.startupProbe, container.readinessProbe, container.livenessProbe]) {
              const response = await fetch(`http://127.0.0.1:${port}${httpGet.path}`)
              expect([httpGet.port, response.status]).toEqual(['http', 200])
            }
          }
          return balancer
        },
      })
      expect(failed).toEqual([])
      expect(stored).toEqual(added)
    },
  )
}
