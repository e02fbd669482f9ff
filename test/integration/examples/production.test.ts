import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { within } from '../../support/deadline.ts'
import { runPetstore } from '../../support/petstore-command.ts'
import { postgresPrograms, startPostgres } from '../../support/postgres-server.ts'
import { missingRedis, startRedis } from '../../support/redis-server.ts'
import { showErrors } from '../../support/show-errors.ts'
import { missing } from '../../support/skips.ts'
import { until } from '../../support/until.ts'

const program = join(import.meta.dirname, '../../../examples/production/server.mjs')

interface Entry {
  readonly [member: string]: unknown
}

/** Starts the example, and waits until it serves. */
async function start(env: Readonly<Record<string, string>>) {
  const all = { ...process.env, PORT: '0', METRICS_PORT: '0', DRAIN_DELAY: '60000', ...env }
  const child = showErrors(spawn(process.execPath, [program], { env: all, stdio: ['ignore', 'pipe', 'pipe'] }))
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = once(child, 'close')
  const log: Entry[] = []
  createInterface(child.stdout).on('line', (line) => log.push(JSON.parse(line)))
  const message = (text: string) => log.find((entry) => entry.message === text)
  await Promise.race([until(async () => message('serving') !== undefined || child.exitCode !== null), ended])
  const { url, metrics } = { ...message('serving') } as { url: string; metrics: string }
  return {
    url,
    metrics,
    log,
    message,
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    ended: async () => (await within(ended, 'the end of the example'))[0] as number | null,
  }
}

/** Adds animals with 8 clients until the server is gone. Returns the names of those that got 201. */
async function addUntilGone(url: string, headers: HeadersInit, onAdded: (count: number) => void): Promise<string[]> {
  const added: string[] = []
  const client = async (number: number) => {
    for (let i = 0; ; i++) {
      const name = `Pet ${number}.${i}`
      const body = JSON.stringify({ name, categoryId: 1 })
      const response = await fetch(`${url}/v1/pets`, { method: 'POST', headers, body }).catch(() => undefined)
      if (response === undefined) return
      expect(response.status).toBe(201)
      added.push(name)
      onAdded(added.length)
    }
  }
  await Promise.all(Array.from({ length: 8 }, (_, number) => client(number)))
  return added
}

const noEngines = [missing('PostgreSQL', (await postgresPrograms()) !== undefined), missingRedis()].includes(true)

test.skipIf(noEngines)('the production example loses nothing if killed, and drains if stopped', async () => {
  const [database, counts] = await Promise.all([startPostgres(), startRedis()])
  onTestFinished(async () => void (await Promise.all([database.remove(), counts.remove()])))
  const env = { DATABASE_URL: database.url, REDIS_URL: counts.url }
  const first = await start(env)
  const issue = ['keys', 'issue', '--database-url', database.url, '--plan', 'pro', '--limits', '1000000/100000']
  const token = (await runPetstore(issue)).stdout.trim()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const added = await addUntilGone(first.url, headers, (count) => count === 60 && first.kill('SIGKILL'))
  await first.ended()

  const second = await start(env)
  const names: string[] = []
  for (let page: string | undefined = '/v1/pets?limit=100'; page !== undefined; ) {
    const response: Response = await fetch(new URL(page, second.url), { headers })
    names.push(...((await response.json()) as { name: string }[]).map(({ name }) => name))
    page = /<(.+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1]
    expect(Number(response.headers.get('x-ratelimit-remaining'))).toBeLessThan(100_000 - added.length)
  }
  expect(names).toEqual(expect.arrayContaining(added))

  const probe = async (path: string) => {
    const response = await fetch(second.url + path)
    return [response.status, await response.json()]
  }
  expect(await probe('/health')).toEqual([200, { status: 'ok' }])
  expect(await probe('/ready')).toEqual([200, { status: 'ok', failing: [] }])
  const metrics = await (await fetch(second.metrics)).text()
  expect(metrics).toMatch(
    /petstore_request_duration_seconds_count\{operation="listPets",plan="pro",status="200",code="none"\} [1-9]/,
  )
  expect(metrics).toContain('process_cpu_seconds_total')
  const { path, operation, status, keyId, requestId } = second.log.find(
    (entry) => entry.operation !== undefined,
  ) as Entry
  expect({ path, operation, status, keyId, requestId }).toEqual({
    path: '/v1/pets',
    operation: 'listPets',
    status: 200,
    keyId: expect.stringMatching(/^key_/),
    requestId: expect.stringMatching(/^[\da-f-]{36}$/),
  })

  second.kill('SIGTERM')
  await until(async () => second.message('closing') !== undefined)
  expect(await probe('/ready')).toEqual([503, { status: 'closing', failing: [] }])
  const listed = await fetch(`${second.url}/v1/pets?limit=1`, { headers })
  expect([listed.status, listed.headers.get('connection')]).toEqual([200, 'close'])
  // Signals within a second of the first one are ignored, because one Ctrl-C may arrive twice.
  await until(async () => !second.kill('SIGTERM'))
  expect(await second.ended()).toBe(null)

  const third = await start({ ...env, DRAIN_DELAY: '0' })
  await counts.stop()
  await until(async () => (await fetch(`${third.url}/ready`)).status === 503)
  await counts.start()
  await until(async () => (await fetch(`${third.url}/ready`)).ok)
  third.kill('SIGTERM')
  expect(await third.ended()).toBe(0)
  expect(third.message('closed')).toBeDefined()
  expect(JSON.stringify([...first.log, ...second.log, ...third.log])).not.toContain(token)

  await database.stop()
  const fourth = await start(env)
  expect(await fourth.ended()).toBe(1)
  expect(fourth.log).toMatchObject([{ level: 'fatal', error: expect.stringContaining('ECONNREFUSED') }])
})
