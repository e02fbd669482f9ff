import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { Redis } from 'ioredis'
import { onTestFinished, test } from 'vitest'
import { startProgram } from '../../conformance/start-host.ts'
import { startHranaServer } from '../../support/hrana-server.ts'
import { postgresPrograms, startPostgres } from '../../support/postgres-server.ts'
import { missingRedis, startRedis } from '../../support/redis-server.ts'
import { runtimeBinary } from '../../support/runtimes.ts'
import { missing } from '../../support/skips.ts'
import { readCommand } from './read-command.ts'

const example = (name: string) => join(import.meta.dirname, '../../../examples', name)

/** Starts a server example whose data is in an external database. */
async function start(command: readonly string[], env: Readonly<Record<string, string>>) {
  const { value, stop } = await startProgram(command, readCommand, { env: { PORT: '0', ...env } })
  onTestFinished(stop)
  const headers = { authorization: `Bearer ${value.token}`, 'content-type': 'application/json' }
  return (init?: RequestInit) => fetch(value.url, { headers, ...init })
}

/** Checks that an animal with a 64-bit categoryId can be created and listed, and that both requests are counted. */
async function expectPetStore(request: (init?: RequestInit) => Promise<Response>): Promise<void> {
  const added = await request({ method: 'POST', body: '{"name":"Rex","categoryId":9007199254740993}' })
  const pet = await added.text()
  assert.equal(added.status, 201, pet)
  assert.match(pet, /9007199254740993/)
  const listed = await request()
  assert.equal(await listed.text(), `[${pet}]`)
  assert.notEqual(listed.headers.get('x-ratelimit-remaining'), null)
}

/** Serves Redis in the format of Upstash's REST API: https://upstash.com/docs/redis/features/restapi. */
async function startUpstash(client: Redis): Promise<string> {
  const server = createServer(async (request, response) => {
    const respond = (status: number, body: object) => response.writeHead(status).end(JSON.stringify(body))
    if (request.headers.authorization !== 'Bearer secret') return respond(401, { error: 'Unauthorized' })
    const [command = '', ...words] = JSON.parse(await text(request)) as string[]
    return client.call(command, ...words).then(
      (result) => respond(200, { result }),
      (error: Error) => respond(400, { error: error.message }),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test.skipIf(missingRedis())("upstash.mjs counts in Redis through Upstash's REST API", async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.remove())
  const client = new Redis(redis.url, { maxRetriesPerRequest: 0 })
  client.on('error', () => {})
  onTestFinished(() => client.disconnect())
  const env = { UPSTASH_URL: await startUpstash(client), UPSTASH_TOKEN: 'secret' }
  const request = await start([process.execPath, example('upstash.mjs')], env)
  await expectPetStore(request)
  const [key = ''] = await client.keys('petstore:quota:*')
  assert.match(String(await client.get(key)), /^2 \d+ 2 /)
  await redis.stop()
  assert.equal((await request()).status, 503)
})

test('turso/server.mjs keeps its data in libSQL over HTTP', async () => {
  const server = await startHranaServer('secret')
  onTestFinished(() => server.close())
  const env = { TURSO_URL: server.url, TURSO_TOKEN: 'secret' }
  const request = await start([process.execPath, example('turso/server.mjs')], env)
  await expectPetStore(request)
  server.fail()
  assert.equal((await request()).status, 503)
})

const deno = await runtimeBinary('deno')
const noDeno = missing('Deno', deno !== undefined)
const noPostgres = missing('PostgreSQL', (await postgresPrograms()) !== undefined)

test.skipIf(noDeno || noPostgres)('deno-postgres.mjs keeps its data in PostgreSQL', async () => {
  const server = await startPostgres()
  onTestFinished(() => server.remove())
  const net = `--allow-net=0.0.0.0:0,${new URL(server.url).host}`
  const env = '--allow-env=DATABASE_URL,PORT,PG*,NODE_PG*,USER*'
  const command = [deno ?? '', 'run', net, env, example('deno-postgres.mjs')]
  const request = await start(command, { DATABASE_URL: server.url })
  await expectPetStore(request)
  await server.stop('crash')
  assert.equal((await request()).status, 503)
})
