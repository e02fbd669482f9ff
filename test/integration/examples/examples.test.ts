import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { onTestFinished, test } from 'vitest'
import { bundleWorker, workerdArgs } from '../../conformance/bundle-worker.ts'
import { portOf, startProgram } from '../../conformance/start-host.ts'
import { runtimeBinary } from '../../support/runtimes.ts'
import { freePort, startProcess } from '../../support/server-process.ts'
import { missing } from '../../support/skips.ts'
import { until } from '../../support/until.ts'
import { readCommand } from './read-command.ts'

const root = join(import.meta.dirname, '../../..')
const example = (name: string) => join(root, 'examples', name)

/** Starts an example on a free port, which replaces `:PORT` in the command. */
async function start(...command: readonly string[]): Promise<{ token: string; url: string }> {
  const port = String(await freePort())
  const words = command.map((word) => word.replace(':PORT', `:${port}`))
  const env = { PORT: port, DRAIN_DELAY: '0' }
  const { value, stop } = await startProgram(words, readCommand, { env })
  onTestFinished(stop)
  return value
}

/** Checks that the server creates an animal and lists it. */
async function expectPetStore({ url, token }: { url: string; token: string }): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const added = await fetch(url, { method: 'POST', headers, body: '{"name":"Rex","categoryId":9007199254740993}' })
  const pet = await added.text()
  assert.equal(added.status, 201, pet)
  assert.match(pet, /9007199254740993/)
  assert.equal(await (await fetch(url, { headers })).text(), `[${pet}]`)
  assert.equal((await fetch(`${url}?limit=0`, { headers })).status, 400)
  assert.equal((await fetch(url)).status, 401)
}

const ownPages = ['express.mjs', 'express-middleware.mjs', 'fastify.mjs', 'h3.mjs', 'hono.mjs', 'koa.mjs']

for (const name of ['node-http.mjs', 'own-server.mjs', ...ownPages, 'shop-with-own-auth.mjs']) {
  test(`the example ${name} responds`, async () => {
    const started = await start(process.execPath, example(name))
    await expectPetStore(started)
    if (ownPages.includes(name)) assert.equal(await (await fetch(new URL('/', started.url))).text(), 'The shop itself')
  })
}

test('express-middleware.mjs: responses have the headers of the host and of the store', async () => {
  const { url, token } = await start(process.execPath, example('express-middleware.mjs'))
  const authorization = `Bearer ${token}`
  const headers = { authorization, 'content-type': 'application/json', origin: 'https://shop.example' }
  const post = (body: string) => fetch(url, { method: 'POST', headers, body })
  for (let i = 0; i < 2; i++) await post(JSON.stringify({ name: 'Rex'.repeat(300), categoryId: 1 }))
  const page = await fetch(`${url}?limit=1`, { headers })
  assert.equal(page.status, 200)
  assert.equal(page.headers.get('content-encoding'), null)
  const list = await fetch(url, { headers })
  assert.equal(list.headers.get('content-encoding'), 'gzip')
  for (const response of [page, list, await fetch(url, { headers: { origin: 'https://shop.example' } })]) {
    assert.equal(response.headers.get('access-control-allow-origin'), 'https://shop.example')
    const exposed = response.headers.get('access-control-expose-headers')?.split(', ') ?? []
    for (const name of ['X-RateLimit-Remaining', 'Retry-After', 'Link']) assert.ok(exposed.includes(name))
    assert.match(response.headers.get('content-security-policy') ?? '', /default-src/)
    assert.match(response.headers.get('vary') ?? '', /Origin.*Accept-Encoding/)
  }
  const asked = { origin: 'https://shop.example', 'access-control-request-method': 'POST' }
  const asking = { ...asked, 'access-control-request-headers': 'authorization,content-type,idempotency-key' }
  const preflight = await fetch(url, { method: 'OPTIONS', headers: asking })
  assert.equal(preflight.status, 204)
  assert.equal(preflight.headers.get('access-control-allow-headers'), asking['access-control-request-headers'])
  const wrong: [string, Record<string, string>, number, string][] = [
    ['{"name":', {}, 400, 'malformed_json'],
    [`"${'x'.repeat(200_000)}"`, {}, 413, 'payload_too_large'],
    ['{}', { 'content-encoding': 'x' }, 415, 'unsupported_media_type'],
    ['{}', {}, 400, 'invalid_body'],
  ]
  for (const [body, more, status, code] of wrong) {
    const response = await fetch(url, { method: 'POST', headers: { ...headers, ...more }, body })
    assert.equal(response.status, status)
    const { message, ...rest } = (await response.json()) as { message: string }
    assert.deepEqual(rest, { code, status })
    assert.equal(typeof message, 'string')
  }
})

test('own-server.mjs serves requests during its drain delay, which may be 0', async () => {
  const port = await freePort()
  const launch = (drainDelay: string) =>
    startProcess(process.execPath, [example('own-server.mjs')], /curl/, {
      env: { ...process.env, PORT: String(port), DRAIN_DELAY: drainDelay },
    })
  const draining = await launch('60000')
  onTestFinished(() => draining.stop('SIGKILL'))
  const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`)
  assert.equal((await get('/ready')).status, 200)
  process.kill(draining.pid, 'SIGTERM')
  await until(async () => (await get('/ready')).status === 503)
  const response = await get('/v1/pets')
  assert.deepEqual([response.status, response.headers.get('connection')], [401, 'close'])
  await draining.stop('SIGKILL')

  const ending = await launch('0')
  await get('/ready') // leaves an idle connection, which must not delay the exit
  await ending.stop('SIGTERM')
})

test('shop-with-own-auth.mjs: colleagues share one limit', async () => {
  const { url, token } = await start(process.execPath, example('shop-with-own-auth.mjs'))
  const ask = (path: string, who: string) => fetch(new URL(path, url), { headers: { authorization: `Bearer ${who}` } })
  assert.deepEqual(await (await ask('/me', token)).json(), { name: 'Ada', company: 'acme' })
  const left = async (who: string) => Number((await ask('/api/v1/pets', who)).headers.get('x-ratelimit-remaining'))
  assert.deepEqual([await left(token), await left('acme-ben-2')], [599, 598])
  assert.deepEqual([await left('solo-cleo-3'), await left('solo-cleo-3')], [1, 0])
  assert.equal((await ask('/api/v1/pets', 'solo-cleo-3')).status, 429)
})

const bun = await runtimeBinary('bun')
test.skipIf(missing('Bun', bun !== undefined)).each(['bun.mjs', 'elysia.mjs', 'itty-router.mjs'])(
  'the example %s responds',
  async (name) => {
    const started = await start(bun ?? '', example(name))
    await expectPetStore(started)
    assert.equal(await (await fetch(new URL('/', started.url))).text(), 'The shop itself')
  },
)

const deno = await runtimeBinary('deno')
test.skipIf(missing('Deno', deno !== undefined))('the example deno.mjs responds', async () => {
  await expectPetStore(
    await start(deno ?? '', 'run', '--allow-net=127.0.0.1:PORT', '--allow-env=PORT', example('deno.mjs')),
  )
})

const workerd = await runtimeBinary('workerd')
test.skipIf(missing('workerd', workerd !== undefined))('the example worker.mjs responds', async () => {
  const folder = await bundleWorker(example('worker.mjs'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const command = [workerd ?? '', ...workerdArgs, join(folder, 'worker.capnp')]
  const { value: port, stop } = await startProgram(command, portOf)
  onTestFinished(stop)
  await expectPetStore({ url: `http://127.0.0.1:${port}/v1/pets`, token: 'demo-key' })
})

test.each(['vitest.test.mjs', 'back-off.test.mjs', 'slow-store.test.mjs'])(
  'the example testing/%s passes',
  async (name) => {
    const vitest = join(root, 'node_modules/vitest/vitest.mjs')
    const run = [vitest, 'run', '--root', example('testing'), name]
    await promisify(execFile)(process.execPath, run)
  },
)

test('the example testing/node.test.mjs passes', async () => {
  await promisify(execFile)(process.execPath, ['--test', example('testing/node.test.mjs')])
})

test('the example own-route.mjs serves routes of the host under the limits of the API', async () => {
  const started = await start(process.execPath, example('own-route.mjs'))
  const headers = { authorization: `Bearer ${started.token}` }
  const send = (path: string, init: RequestInit = {}) => fetch(new URL(path, started.url), { headers, ...init })
  const post = (body: string) => send('/import', { method: 'POST', body })
  assert.equal((await send('/import', { method: 'POST', headers: {} })).status, 401)
  const refused = await post('[{"name":"Rex","categoryId":1},{"name":"","categoryId":"2"}]')
  assert.equal(refused.status, 400)
  assert.equal(refused.headers.get('x-ratelimit-remaining'), '59')
  const { problems } = (await refused.json()) as { problems: string[] }
  assert.match(problems[0] ?? '', /^animal 2, name: expected a string of at most 1000 characters/)
  assert.equal(problems[1], 'animal 2, categoryId: expected an integer from -2^63 to 2^63-1, got the string "2"')
  const added = await post('[{"name":"Rex","categoryId":9007199254740993},{"name":"Ada","categoryId":2}]')
  assert.equal(added.status, 201)
  assert.deepEqual(await added.json(), { added: 2, repeated: 0 })
  const list = await send('/v1/pets')
  assert.match(await list.text(), /"name":"Rex","categoryId":9007199254740993,"status":"available"/)
  assert.equal(await (await send('/names?limit=1')).text(), '["Rex"]')
  assert.match(await (await send('/names?limit=0')).text(), /expected a whole number from 1 to 100/)
  const orders = await send('/orders')
  assert.equal(orders.headers.get('x-ratelimit-remaining'), '54')
  assert.deepEqual(await orders.json(), { account: 'acme', orders: [] })
})

test('the example form.mjs shows a message for each wrong field', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [example('form.mjs')])
  assert.match(stdout, /animal: \{ name: 'Rex', categoryId: 9007199254740993n, status: 'pending' \}/)
  for (const field of ['name', 'categoryId', 'status']) assert.match(stdout, new RegExp(`${field}: .expected `))
})
