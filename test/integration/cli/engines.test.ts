import { once } from 'node:events'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { within } from '../../support/deadline.ts'
import { type RunningServer, runPetstore, startCommand, startServer } from '../../support/petstore-command.ts'
import { openPool } from '../../support/postgres-back-end.ts'
import { type PostgresServer, postgresPrograms, startPostgres } from '../../support/postgres-server.ts'
import { missingRedis, type RedisServer, startRedis } from '../../support/redis-server.ts'
import { missing } from '../../support/skips.ts'
import { startTcpProxy } from '../../support/tcp-proxy.ts'
import { until } from '../../support/until.ts'

const running: { end(): Promise<unknown> }[] = []

afterAll(async () => {
  for (const { end } of running.reverse()) await end()
})

async function serve(...args: string[]): Promise<RunningServer> {
  const server = await startServer(...args)
  running.push({ end: () => server.end('SIGKILL') })
  return server
}

async function openPostgres(): Promise<PostgresServer> {
  const server = await startPostgres()
  running.push({ end: () => server.remove() })
  return server
}

async function openRedis(): Promise<RedisServer> {
  const server = await startRedis()
  running.push({ end: () => server.remove() })
  return server
}

function list(server: RunningServer, token: string): Promise<Response> {
  return fetch(`${server.url}/pets?limit=100`, { headers: { authorization: `Bearer ${token}` } })
}

describe.skipIf(missing('PostgreSQL', (await postgresPrograms()) !== undefined))('petstore on PostgreSQL', () => {
  test('petstore on PostgreSQL keeps animals and keys after a restart', async () => {
    const { url } = await openPostgres()
    const database = ['--database-url', url]
    const issued = await runPetstore(['keys', 'issue', ...database, '--plan', 'pro', '--label', 'ours'])
    expect(issued.code).toBe(0)
    const token = issued.stdout.trim()
    const seeded = await serve('--seed', '60', ...database)
    await seeded.end('SIGTERM')
    const first = await serve(...database)
    expect(first.output()).not.toMatch(/pet_|demo/)
    const pets = await (await list(first, token)).json()
    expect(pets).toHaveLength(60)
    expect(pets).toMatchObject([
      { id: 1, name: 'Rex' },
      { id: 2, name: 'Misty' },
      ...Array(57).fill({}),
      { name: 'Biscuit 6' },
    ])
    await first.end('SIGTERM')
    const second = await serve(...database)
    expect(await (await list(second, token)).json()).toEqual(pets)
    const listed = await runPetstore(['keys', 'list', ...database])
    expect(listed.stdout).toMatch(/^key_\w+ +active +pro .* ours$/m)
    const [id = ''] = /key_\w+/.exec(listed.stdout) ?? []
    expect(await runPetstore(['keys', 'revoke', id, ...database])).toMatchObject({ code: 0, stderr: '' })
  })

  test('petstore serve warns only once that a crash may lose animals', async () => {
    const { url } = await openPostgres()
    const pool = openPool(url)
    await pool.query('ALTER ROLE petstore SET synchronous_commit = off')
    await pool.end()
    const server = await serve('--database-url', url)
    const lines = server.output().split('\n')
    expect(lines.filter((line) => line.includes('synchronous_commit is off'))).toEqual([
      expect.stringMatching(/^petstore: PostgreSQL at \S+: .* Set it to on$/),
    ])
  })
})

describe.skipIf(missing('PostgreSQL', (await postgresPrograms()) !== undefined))(
  'a PostgreSQL server that hangs',
  () => {
    test.each([
      ['while PostgreSQL hangs', [], false],
      ['while PostgreSQL hangs during --seed', ['--seed', '1000000'], false],
      ['if PostgreSQL hangs during --seed and then closes the connections', ['--seed', '1000000'], true],
    ])('petstore serve exits after a signal %s', async (_when, flags, closesConnections) => {
      const { url, port } = await openPostgres()
      const proxy = await startTcpProxy(port)
      onTestFinished(proxy.close)
      const through = url.replace(`:${port}/`, `:${proxy.port}/`)
      const args = ['serve', '--port', '0', '--database-url', through, ...flags]
      const child = startCommand(args, ['ignore', 'pipe', 'pipe'])
      onTestFinished(() => void child.kill('SIGKILL'))
      const ended = once(child, 'close')
      let output = ''
      for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (output += chunk))
      const pool = openPool(url)
      const hasAnimals = async () => (await pool.query('SELECT FROM petstore.pets LIMIT 1')).rows.length > 0
      await until(async () => output.includes('Ctrl-C') || (flags.length > 0 && (await hasAnimals())))
      expect([await hasAnimals(), output.includes('pet_')]).toEqual([flags.length > 0, false])
      await pool.end()
      proxy.freeze()
      child.kill('SIGTERM')
      await until(async () => output.includes('Closing:'))
      if (closesConnections) proxy.close()
      expect(await within(ended, 'the end of the command')).toEqual([0, null])
      // If the connection is lost between two batches, the command prints the error.
      const interrupted = /^\nClosing: .+\n(?:petstore: PostgreSQL at \S+: Connection terminated unexpectedly\n)?$/
      expect(output).toMatch(flags.length > 0 ? interrupted : /Ctrl-C ends it\.\n\nClosing: .+\n$/)
    })
  },
)

describe.skipIf(missingRedis())('petstore on Redis', () => {
  test('petstore responds with 503 only while Redis is down', async () => {
    const redis = await openRedis()
    const server = await serve('--redis-url', redis.url)
    const token = /free +(pet_\w+)/.exec(server.output())?.[1] ?? ''
    // This server cannot listen: the port is taken. It must close its connection to Redis, or the process would not end.
    const { port } = new URL(server.url)
    expect((await runPetstore(['serve', '--redis-url', redis.url, '--port', port])).code).toBe(1)
    expect((await list(server, token)).headers.get('x-ratelimit-remaining')).toBe('59')
    await redis.stop()
    const refused = await list(server, token)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5'])
    // The command prints a repeated message only once.
    const lines = () => server.output().split('\n').slice(0, -1)
    await expect.poll(lines).toContainEqual(expect.stringMatching(/^petstore: Redis at .*ECONNREFUSED/))
    expect(lines().filter((line) => line.startsWith('petstore: GET /v1/pets failed: '))).toHaveLength(1)
    expect(server.output()).not.toMatch(/^ +at /m)
    await redis.start()
    await expect.poll(async () => (await list(server, token)).status).toBe(200)
  })
})
