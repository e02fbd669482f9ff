import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../conformance/sqlite/open.ts'
import { runPetstore, startPetstore } from '../../support/petstore-command.ts'
import { rawConnection } from '../../support/raw-http.ts'
import { findProgram } from '../../support/server-process.ts'
import { missing } from '../../support/skips.ts'
import { until } from '../../support/until.ts'

describe('petstore serve', () => {
  test.each([
    ['0', undefined],
    ['3', 1],
  ])('petstore serve adds %s demo animals', async (seed, first) => {
    const { address, bearer } = await startPetstore('--seed', seed)
    const pets = (await (await fetch(`${address}/pets`, bearer('free'))).json()) as { id: number }[]
    expect([pets.length, pets[0]?.id]).toEqual([Number(seed), first])
  })

  test('petstore serve prints a key for each plan', async () => {
    const { address, keys, bearer } = await startPetstore()
    expect(Object.keys(keys)).toEqual(['free', 'pro', 'business', 'enterprise'])
    const limits = Object.keys(keys).map(async (plan) =>
      (await fetch(`${address}/pets`, bearer(plan))).headers.get('x-ratelimit-limit'),
    )
    expect(await Promise.all(limits)).toEqual(['60', '300', '1000', '10000'])
  })

  test('--plan-limits can set the limits of several plans, and can be repeated', async () => {
    const flags = ['--plan-limits', 'free=2/50,pro=3/50', '--plan-limits', 'gold=4/50,enterprise=5/50']
    const { address, bearer } = await startPetstore(...flags)
    const limitOf = async (plan: string) =>
      (await fetch(`${address}/pets`, bearer(plan))).headers.get('x-ratelimit-limit')
    const limits = await Promise.all(['free', 'pro', 'gold', 'enterprise', 'business'].map(limitOf))
    expect(limits).toEqual(['2', '3', '4', '5', '1000'])
  })

  test('petstore serve uses --host and --base-path', async () => {
    const { address, bearer } = await startPetstore('--host', '127.0.0.2', '--base-path', "/it's/v2/")
    expect(address).toMatch(/^http:\/\/127\.0\.0\.2:\d+\/it's\/v2$/)
    expect((await fetch(`${address}/pets`, bearer('free'))).status).toBe(200)
  })

  test("the log has each client's address, but no token", async () => {
    const { address, keys, bearer, line, output } = await startPetstore('--log')
    await fetch(`${address}/pets?limit=1`, bearer('free'))
    const pattern = /^\d{4}-\d\d-\d\dT[\d:.]+Z 200 GET \/v1\/pets 127\.0\.0\.1 key_\w+ \d+(?:\.\d+)? ms$/
    expect(await line(/ 200 GET /)).toMatch(pattern)
    await fetch(`${address}/pets`)
    expect(await line(/ 401 GET /)).toContain('127.0.0.1 no key')
    const log = output().split('Ctrl-C ends it.\n')[1] as string
    for (const token of Object.values(keys)) expect(log).not.toContain(token)
  })

  test('--log json logs each request as one line of JSON', async () => {
    const { address, bearer, line } = await startPetstore('--log', 'json', '--request-id', '--trust-proxy', '1')
    const { headers } = bearer('free')
    await fetch(`${address}/pets?limit=1`, {
      headers: { ...headers, 'x-forwarded-for': '203.0.113.7', 'x-request-id': 'order-7' },
    })
    expect(JSON.parse(await line(/^/))).toMatchObject({
      level: 'info',
      method: 'GET',
      target: '/v1/pets',
      status: 200,
      operation: 'listPets',
      clientAddress: '203.0.113.7',
      requestId: 'order-7',
    })
  })

  test('petstore serve logs no request without --log', async () => {
    const { address, bearer, output } = await startPetstore()
    const before = output()
    await fetch(`${address}/pets`, bearer('free'))
    expect(output()).toBe(before)
  })

  test('petstore serve applies --cors, --public-url and --body-limit', async () => {
    const origins = 'https://a.example,https://*.shop.example'
    const flags = ['--cors', origins, '--public-url', 'https://pets.example', '--body-limit', '20']
    const { address, bearer } = await startPetstore(...flags)
    const { headers } = bearer('free')
    const response = await fetch(`${address}/pets?limit=1`, {
      headers: { ...headers, origin: 'https://b.shop.example' },
    })
    expect(response.headers.get('access-control-allow-origin')).toBe('https://b.shop.example')
    expect(response.headers.get('link')).toMatch(/^<https:\/\/pets\.example\/v1\/pets\?/)
    const body = '{"name":"Rex","categoryId":1}'
    const json = { ...headers, 'content-type': 'application/json' }
    expect((await fetch(`${address}/pets`, { method: 'POST', headers: json, body })).status).toBe(413)
  })

  test('petstore serve --json prints its address and keys', async () => {
    const { line } = await startPetstore('--json')
    const report = JSON.parse(await line(/^\{/)) as { url: string; keys: Record<string, string> }
    const headers = { authorization: `Bearer ${report.keys.pro}` }
    expect((await fetch(`${report.url}/pets`, { headers })).headers.get('x-ratelimit-limit')).toBe('300')
  })
})

describe.skipIf(missing('curl', findProgram('curl') !== undefined))('the curl commands that serve prints', () => {
  test.each([[[]], [['--base-path', "/it's(a)&b;$HOME*!/v1"]], [['--base-path', '/']]])(
    'the printed curl commands work with the flags %j',
    async (flags: string[]) => {
      const { curls } = await startPetstore(...flags)
      const outputs = curls.map(async (command) => (await promisify(execFile)('sh', ['-c', command])).stdout)
      const [list, add] = await Promise.all(outputs)
      expect(outputs).toHaveLength(2)
      expect(list).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\n\[\{"id":1,"name":"Rex".*\]\n$/)
      expect(add).toMatch(/^HTTP\/1\.1 201 Created\r\n[\s\S]*\r\n\r\n\{"id":9,"name":"Tiger".*\}\n$/)
    },
  )
})

describe('--control-port', () => {
  test('--control-port serves the control API and prints its address', async () => {
    const { line, child, exited } = await startPetstore('--control-port', '0', '--json', '--plan-limits', 'free=2/9')
    const report = JSON.parse(await line(/^\{/)) as { url: string; control: string; keys: Record<string, string> }
    expect(report.control).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{24}$/)
    const list = async () => {
      const headers = { authorization: `Bearer ${report.keys.free}` }
      const { status } = await fetch(`${report.url}/pets`, { headers })
      return status
    }
    expect([await list(), await list(), await list()]).toEqual([200, 200, 429])
    const body = JSON.stringify({ advanceSeconds: 60 })
    expect((await fetch(`${report.control}/clock`, { method: 'POST', body })).status).toBe(200)
    expect(await list()).toBe(200)
    expect((await fetch(`${report.control}/reset`, { method: 'POST' })).status).toBe(204)
    expect(await list()).toBe(200)
    child.kill('SIGTERM')
    expect(await exited()).toEqual({ code: 0, stderr: expect.stringMatching(/^\nClosing: .+\n$/) })
  })

  test.each([
    [[], 410],
    [['--sunset', 'enforce'], 410],
    [['--sunset', 'announce'], 200],
  ])('after 5 December 2030, getPet gets the right status with the flags %j', async (flags: string[], status) => {
    const { line } = await startPetstore('--control-port', '0', '--json', '--seed', '1', ...flags)
    const { url, control, keys } = JSON.parse(await line(/^\{/))
    const headers = { authorization: `Bearer ${keys.free}` }
    const statusAt = async (set: string) => {
      await fetch(`${control}/clock`, { method: 'POST', body: JSON.stringify({ set }) })
      return (await fetch(`${url}/pets/1`, { headers })).status
    }
    expect(await statusAt('2030-12-04T23:59:00Z')).toBe(200)
    expect(await statusAt('2030-12-05T00:00:00Z')).toBe(status)
  })

  test('a given control secret opens the control API, and is in no output', async () => {
    const secret = 'a-secret-of-the-test'
    // Other systems have only one loopback address.
    const other = process.platform === 'linux' ? '127.0.0.2' : '127.0.0.1'
    const { line, child, exited, output } = await startPetstore(
      ...['--control-port', '0', '--control-host', other, '--control-secret', secret, '--json', '--log'],
    )
    const { control } = JSON.parse(await line(/^\{/)) as { control: string }
    expect(control).toMatch(/^http:\/\/[\d.]+:\d+$/)
    expect(new URL(control).hostname).toBe(other)
    expect((await fetch(`${control}/${secret}/clock`)).status).toBe(200)
    expect((await fetch(`${control}/another-secret/clock`)).status).toBe(403)
    child.kill('SIGTERM')
    expect(output() + (await exited()).stderr).not.toContain(secret)
  })

  test('a given control secret on a public --control-host needs --insecure-control', async () => {
    const args = ['--control-port', '0', '--control-host', '0.0.0.0', '--control-secret', 'a-secret-of-the-test']
    const { code, stderr } = await runPetstore(['serve', ...args])
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^petstore: --control-secret: expected a loopback .*; --insecure-control allows/),
    ])
    const { output } = await startPetstore(...args, '--insecure-control')
    expect(output()).toMatch(/^Control API on http:\/\/localhost:\d+\/<the secret of --control-secret> /m)
  })

  test.each(['--control-host', '--control-secret'])('%s is rejected without --control-port', async (flag) => {
    const { code, stderr } = await runPetstore(['serve', flag, '127.0.0.1'])
    expect([code, stderr]).toEqual([
      1,
      `petstore: ${flag}: expected --control-port too, got none; add --control-port 3001\n`,
    ])
  })

  test.each([['--data'], ['--database-url'], ['--redis-url']])(
    '--control-port is rejected together with %s',
    async (flag) => {
      const { code, stderr } = await runPetstore(['serve', '--control-port', '0', flag, 'x'])
      expect([code, stderr]).toEqual([
        1,
        `petstore: --control-port: only a store in memory can be reset, so it cannot be used together with ${flag}\n`,
      ])
    },
  )
})

describe('--delay and --fail', () => {
  test.each([
    [[], 'a store in memory'],
    [['--control-port', '0'], 'a test double'],
  ])('the same --fault-seed gives the same failures twice (%j)', async (flags: string[]) => {
    const statusesOf = async (...seed: string[]) => {
      const { line, child } = await startPetstore('--delay', '0-1', '--fail', '0.3', '--json', ...flags, ...seed)
      const { url, keys, faultSeed } = JSON.parse(await line(/^\{/))
      const statuses = []
      const headers = { authorization: `Bearer ${keys.pro}` }
      for (let i = 0; i < 40; i++) statuses.push((await fetch(`${url}/pets`, { headers })).status)
      child.kill('SIGKILL')
      return { statuses, faultSeed }
    }
    const { statuses, faultSeed } = await statusesOf()
    expect(new Set(statuses)).toEqual(new Set([200, 503]))
    expect(await statusesOf('--fault-seed', String(faultSeed))).toEqual({ statuses, faultSeed })
  })

  test('the start text names the faults, which do not affect /ready', async () => {
    const { folder, remove } = temporaryFolder()
    onTestFinished(() => void remove())
    const file = ['--data', join(folder, 'pets.db'), '--demo']
    const { address, bearer, output } = await startPetstore('--fail', '1', '--delay', '1', ...file)
    expect(output()).toContain(
      'Fault on purpose: storage: fail, chance 1.\nFault on purpose: connection: delay 1 ms.\n',
    )
    expect((await fetch(`${address}/pets`, bearer('free'))).status).toBe(503)
    expect((await fetch(new URL('/ready', address))).status).toBe(200)
  })
})

describe('environment variables', () => {
  test.each([
    ['PETSTORE_PORT', { PETSTORE_PORT: 'x' }, /--port.*from env 'PETSTORE_PORT'/],
    ['PORT', { PORT: 'x' }, /--port.*from env 'PORT'/],
    ['PETSTORE_HOST', { PETSTORE_HOST: '192.0.2.1', PORT: '0' }, /--host/],
    ['PETSTORE_BASE_PATH', { PETSTORE_BASE_PATH: 'v1' }, /^petstore: --base-path/],
    ['PETSTORE_PUBLIC_URL', { PETSTORE_PUBLIC_URL: 'x' }, /^petstore: --public-url/],
    ['PETSTORE_CORS', { PETSTORE_CORS: 'x' }, /^petstore: --cors/],
    ['PETSTORE_TRUST_PROXY', { PETSTORE_TRUST_PROXY: 'x' }, /^petstore: --trust-proxy/],
    ['PETSTORE_SUNSET', { PETSTORE_SUNSET: 'x' }, /--sunset/],
    ['PETSTORE_BODY_LIMIT', { PETSTORE_BODY_LIMIT: '0' }, /--body-limit/],
    ['PETSTORE_PLAN_LIMITS', { PETSTORE_PLAN_LIMITS: 'x' }, /--plan-limits/],
    ['PETSTORE_KEY', { PETSTORE_KEY: 'x' }, /--key/],
    ['PETSTORE_DELAY', { PETSTORE_DELAY: '800-100' }, /--delay.*Expected milliseconds such as 300, or a range/],
    ['PETSTORE_FAIL', { PETSTORE_FAIL: '10%' }, /--fail.*Expected a chance from 0 to 1/],
    ['PETSTORE_FAULT_SEED', { PETSTORE_FAULT_SEED: 'x' }, /--fault-seed.*Expected a whole number/],
    ['PETSTORE_SEED', { PETSTORE_SEED: 'x' }, /--seed/],
    ['PETSTORE_LOG', { PETSTORE_LOG: 'x' }, /--log/],
  ])('the environment variable %s can be set instead of its flag', async (_, env, line) => {
    const { code, stderr } = await runPetstore(['serve'], env)
    expect([code, stderr]).toEqual([1, expect.stringMatching(line)])
  })

  test('PETSTORE_INSECURE_KEYS=false does not set --insecure-keys', async () => {
    const args = ['serve', '--host', '0.0.0.0', '--key', 'pro=token']
    expect((await runPetstore(args, { PETSTORE_INSECURE_KEYS: 'false' })).stderr).toMatch(/^petstore: --key/)
  })

  test('an empty environment variable counts as unset', async () => {
    expect((await runPetstore(['keys', 'list'], { PETSTORE_DATA: '' })).stderr).toContain('give --data <file>')
  })
})

describe('fixed keys', () => {
  test('a fixed key has the limits of its plan', async () => {
    const { address, keys, output } = await startPetstore('--key', 'pro=my-token', 'free=other==')
    const statusOf = async (token: string) => {
      const { status, headers } = await fetch(`${address}/pets`, { headers: { authorization: `Bearer ${token}` } })
      return [status, headers.get('x-ratelimit-limit')]
    }
    expect(await Promise.all(['my-token', 'other==', 'nobody'].map(statusOf))).toEqual([
      [200, '300'],
      [200, '60'],
      [401, '60'],
    ])
    expect(keys).toEqual({})
    expect(output()).toContain('API keys: those of --key (pro, free).')
    expect(output()).not.toContain('my-token')
  })

  test('fixed keys on a public --host need --insecure-keys', async () => {
    const args = ['--host', '0.0.0.0', '--key', 'pro=my-token']
    const { code, stderr } = await runPetstore(['serve', ...args])
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^petstore: --key: expected a loopback --host/)])
    const { address } = await startPetstore(...args, '--insecure-keys')
    const headers = { authorization: 'Bearer my-token' }
    expect((await fetch(`${address}/pets`, { headers })).status).toBe(200)
  })
})

describe('petstore serve outside the base path', () => {
  test('requests for /health and /ready need no key and are not counted', async () => {
    const { address, bearer } = await startPetstore('--plan-limits', 'free=2/2')
    const { origin } = new URL(address)
    for (let i = 0; i < 5; i++) {
      expect(await (await fetch(`${origin}/health`)).json()).toEqual({ status: 'ok' })
      expect(await (await fetch(`${origin}/ready`)).json()).toEqual({ status: 'ok', failing: [] })
    }
    expect((await fetch(`${origin}/favicon.ico`)).status).toBe(204)
    expect((await fetch(`${origin}/health`, { method: 'POST' })).status).toBe(405)
    expect((await fetch(`${origin}/pets`)).status).toBe(401)
    const response = await fetch(`${address}/pets`, bearer('free'))
    expect(response.headers.get('x-ratelimit-remaining')).toBe('1')
  })
})

describe('petstore prints one line and exits with 1 if it cannot start', () => {
  test.each([
    [['serve', '--port', 'x'], /--port.*whole number/],
    [['serve', '--port', '70000'], /--port.*65535/],
    [['serve', '--port', '-1'], /--port/],
    [['serve', '--prot', '1'], /unknown option '--prot' \(Did you mean --port\?\)/],
    [['serve', '--host', ''], /--host/],
    [['serve', '--host', '192.0.2.1', '--port', '0'], /^petstore: --host.*no such address/],
    [
      ['serve', '--port', '0', '--control-port', '0', '--control-host', '192.0.2.1'],
      /^petstore: --control-host.*no such address/,
    ],
    [['serve', '--control-secret', '1234567'], /--control-secret.*Expected a secret of 8 to 200/],
    [['serve', '--sunset', 'never'], /--sunset.*Expected enforce or announce/],
    [['serve', '--drain-delay', '5s'], /--drain-delay.*seconds/],
    [['serve', '--seed', '1.5'], /--seed.*whole number/],
    [['serve', '--seed', '99999999999'], /--seed/],
    [['serve', '--plan-limits', 'free=1'], /--plan-limits.*free=10\/100/],
    [['serve', '--plan-limits', 'free=0/1'], /--plan-limits/],
    [['serve', '--plan-limits', 'a=1/1,,'], /--plan-limits/],
    [['serve', '--plan-limits'], /--plan-limits/],
    [['serve', '--base-path', 'v1'], /^petstore: --base-path: expected/],
    [['serve', '--base-path', '/a?b'], /^petstore: --base-path/],
    [['serve', '--key', 'pro=a token'], /--key.*pro=my-token/],
    [['serve', '--key', 'pro=a', 'free=a'], /--key.*each token once/],
    [['serve', '--key', 'gold=a'], /--key: expected plan=token with one of the plans .*; --plan-limits adds plans/],
    [['serve', '--cors', 'https://a.example/'], /^petstore: --cors: expected .*without a trailing slash/],
    [['serve', '--trust-proxy', 'nginx'], /^petstore: --trust-proxy: expected/],
    [['serve', 'more'], /too many arguments/],
    [['sevre'], /unknown command 'sevre' \(Did you mean serve\?\)/],
    [['--nonsense'], /unknown option/],
    [['serve', '--port', 'x\ny\nz'], /--port/],
  ])('petstore prints an error of one line for %j', async (args, line) => {
    const { code, stdout, stderr } = await runPetstore(args)
    expect(code).toBe(1)
    expect(stdout).toBe('')
    expect(stderr).toMatch(/^petstore: .+\n$/)
    expect(stderr).toMatch(line)
  })

  test('petstore serve prints one error line if its port is in use', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    onTestFinished(() => void taken.close())
    const { port } = taken.address() as AddressInfo
    for (const [flag, args] of [
      ['--port', []],
      ['--control-port', ['--port', '0']],
    ] as const) {
      const { code, stdout, stderr } = await runPetstore(['serve', ...args, flag, String(port)])
      expect([code, stdout]).toEqual([1, ''])
      expect(stderr).toBe(
        `petstore: port ${port} on 127.0.0.1 is in use: choose another port with ${flag}, or 0 for any free port\n`,
      )
    }
  })
})

test.each([[['--help']], [['serve', '--help']], [['help', 'serve']], [['--version']]])(
  'petstore %j prints help or version, and exits with 0',
  async (args) => {
    const { code, stdout, stderr } = await runPetstore(args)
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(args[0] === '--version' ? /^\d+\.\d+\.\d+\n$/ : /Usage: petstore/)
  },
)

describe('a signal', () => {
  test('a second signal stops the server immediately, despite a running request', async () => {
    const { address, keys, child, exited, errorLine } = await startPetstore()
    // The server waits for this request, because its body does not end.
    const running = await rawConnection(address)
    const head = ['POST /v1/pets HTTP/1.1', 'Host: a', 'Content-Type: application/json', 'Content-Length: 50']
    await running.send(`${head.join('\r\n')}\r\nAuthorization: Bearer ${keys.free}\r\nExpect: 100-continue\r\n\r\n`)
    expect((await running.answer()).status).toBe(100)
    child.kill('SIGINT')
    expect(await errorLine(/^Closing/)).toBe(
      'Closing: running requests may take up to 10 s. Press Ctrl-C again to exit at once.',
    )
    // Signals within a second of the first one are ignored, because one Ctrl-C may arrive twice.
    await until(async () => !child.kill('SIGTERM') || child.exitCode !== null)
    expect(await exited()).toMatchObject({ code: 1 })
  })

  test('after a signal, --drain-delay keeps the server serving while /ready responds with 503', async () => {
    const { address, bearer, child, exited, errorLine } = await startPetstore('--drain-delay', '60')
    child.kill('SIGTERM')
    expect(await errorLine(/^Closing/)).toBe(
      'Closing: /ready responds with 503 for 60 s; then running requests may take up to 10 s. Press Ctrl-C again to exit at once.',
    )
    const ready = await fetch(new URL('/ready', address))
    expect([ready.status, await ready.json()]).toEqual([503, { status: 'closing', failing: [] }])
    const listed = await fetch(`${address}/pets`, bearer('free'))
    expect([listed.status, listed.headers.get('connection')]).toEqual([200, 'close'])
    // Signals within a second of the first one are ignored, because one Ctrl-C may arrive twice.
    await until(async () => !child.kill('SIGTERM') || child.exitCode !== null)
    expect(await exited()).toMatchObject({ code: 1 })
  })

  test('a signal ends a server whose output pipe was closed', async () => {
    const { child, address, exited } = await startPetstore('--log')
    child.stdout.destroy()
    for (let i = 0; i < 3; i++) expect((await fetch(`${address}/pets`)).status).toBe(401)
    child.kill('SIGTERM')
    expect(await exited()).toEqual({ code: 0, stderr: expect.stringMatching(/^\nClosing: .+\n$/) })
  })

  test.each(['SIGINT', 'SIGTERM'] as const)('the signal %s closes open connections', async (signal) => {
    const { address, keys, child, exited } = await startPetstore()
    const [kept, silent] = [await rawConnection(address), await rawConnection(address)]
    await kept.send(`GET /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${keys.free}\r\n\r\n`)
    expect((await kept.answer()).status).toBe(200)
    child.kill(signal)
    expect(await exited()).toEqual({ code: 0, stderr: expect.stringMatching(/^\nClosing: .+\n$/) })
    await Promise.all([kept.closed(), silent.closed()])
  })
})
