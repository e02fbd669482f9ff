import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { Agent, request as httpRequest } from 'node:http'
import { join } from 'node:path'
import Libsql from 'libsql'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { sqlite } from '../../../adapters/back-ends/sqlite/index.ts'
import { temporaryFolder } from '../../conformance/sqlite/open.ts'
import {
  type RunningServer,
  runPetstore,
  SQLITE_WARNING,
  startCommand,
  startServer,
} from '../../support/petstore-command.ts'
import { rawConnection } from '../../support/raw-http.ts'
import { until } from '../../support/until.ts'

let folder: string
let data: string
let cleanUp: (() => unknown)[]

beforeEach(() => {
  const temporary = temporaryFolder()
  folder = temporary.folder
  data = join(folder, 'pets.db')
  cleanUp = [temporary.remove]
})

afterEach(async () => {
  for (const clean of cleanUp.reverse()) await clean()
})

async function serveFile(...args: string[]): Promise<RunningServer> {
  const server = await startServer('--data', data, ...args)
  cleanUp.push(() => server.end('SIGKILL'))
  return server
}

async function issueKey(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runPetstore(['keys', 'issue', '--data', data, ...args])
  expect({ code, stderr }).toMatchObject({ code: 0 })
  return stdout.trim()
}

function get(url: string, token: string): Promise<Response> {
  return fetch(url, { headers: { authorization: `Bearer ${token}` } })
}

function create(url: string, token: string, name: string): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  return fetch(`${url}/pets`, { method: 'POST', headers, body: JSON.stringify({ name, categoryId: 1 }) })
}

interface Wire {
  readonly id: number
  readonly name: string
}

/** Requests every page, and returns all animals. */
async function walk(url: string, token: string): Promise<Wire[]> {
  const pets: Wire[] = []
  let target: string | undefined = `${url}/pets?limit=100`
  while (target !== undefined) {
    const response: Response = await get(target, token)
    expect(response.status).toBe(200)
    pets.push(...((await response.json()) as Wire[]))
    const next = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1]
    target = next && new URL(next, url).href
  }
  return pets
}

/** Returns the number of rows of a table. */
function countOf(table: string): number {
  const database = new Libsql(data, { readonly: true } as object)
  try {
    return Number((database.prepare(`SELECT count(*) AS n FROM petstore_${table}`).get() as { n: number }).n)
  } finally {
    database.close()
  }
}

const PLENTY = ['--plan', 'pro', '--limits', '1000000/1000000']

describe('petstore serve --data', () => {
  test('petstore serve --data keeps animals and keys after a restart', async () => {
    const first = await serveFile('--demo')
    const token = /business +(pet_\w+)/.exec(first.output())?.[1] ?? ''
    const made = await create(first.url, token, 'Tiger 🐅')
    expect(made.status).toBe(201)
    const before = await get(`${first.url}/pets`, token)
    const pets = (await before.json()) as Wire[]
    expect(pets).toHaveLength(9)
    await first.end('SIGTERM')

    const second = await serveFile('--demo')
    expect(first.output()).toContain('\nAdded 8 demo animals.\n')
    expect(second.output()).not.toMatch(/pet_|demo/)
    // If the path of the folder contains special characters, the command quotes it for the shell.
    const unquoted = (text: string) => text.replaceAll(/['\\]/g, '')
    expect(unquoted(second.output())).toContain(unquoted(` petstore keys list --data ${data}\n`))
    const after = await get(`${second.url}/pets`, token)
    expect(await after.json()).toEqual(pets)
    const { stdout } = await runPetstore(['keys', 'list', '--data', data, '--json'])
    expect(JSON.parse(stdout)).toHaveLength(4)
  })

  test('a link and its cursor lead to the same animals after a restart', async () => {
    const token = await issueKey(...PLENTY)
    const first = await serveFile()
    for (const name of ['a', 'b', 'c']) expect((await create(first.url, token, name)).status).toBe(201)
    const { headers } = await get(`${first.url}/pets?limit=1&status=available`, token)
    await first.end('SIGTERM')

    const second = await serveFile()
    expect((await create(second.url, token, 'd')).status).toBe(201)
    const namesAt = async (target: string) => {
      const page = await get(new URL(target, second.url).href, token)
      return [page.status, ...((await page.json()) as Wire[]).map(({ name }) => name)]
    }
    const link = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1] ?? ''
    const cursor = headers.get('x-next-cursor')
    expect(await namesAt(link)).toEqual([200, 'b'])
    expect(await namesAt(`/v1/pets?cursor=${cursor}&limit=2`)).toEqual([200, 'b', 'c'])
    expect(await namesAt(`/v1/pets?cursor=${cursor}`)).toEqual([200, 'b', 'c', 'd'])
    expect(await namesAt(`/v1/pets?cursor=${cursor}&status=sold`)).toEqual([200])
  })

  test('petstore serve --data adds no animals to a new file', async () => {
    const server = await serveFile()
    expect([countOf('pets'), countOf('keys')]).toEqual([0, 0])
    expect(server.output()).toContain('Issue and list API keys in another terminal:')
    expect(server.output()).toMatch(/^ {2}petstore keys issue --data \S+ --plan pro$/m)
  })

  test('petstore serve --seed adds animals but no keys', async () => {
    const server = await serveFile('--seed', '3')
    expect([countOf('pets'), countOf('keys')]).toEqual([3, 0])
    expect(server.output()).toContain('Added 3 demo animals.')
  })

  test('petstore serve finishes a running request after SIGTERM', async () => {
    const server = await serveFile('--demo')
    const token = /business +(pet_\w+)/.exec(server.output())?.[1] ?? ''
    const connection = await rawConnection(server.url)
    const body = '{"name":"Rex","categoryId":1}'
    const type = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue`
    await connection.send(`POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n${type}\r\n\r\n`)
    expect((await connection.answer()).status).toBe(100)
    const ended = server.end('SIGTERM')
    await until(async () => server.output().includes('Closing: running requests may take up to 10 s.'))
    await connection.send(body)
    expect((await connection.answer()).status).toBe(201)
    await ended
    expect(countOf('pets')).toBe(9)
  })

  test('SIGTERM while demo data are added causes no error', async () => {
    const args = ['serve', '--port', '0', '--data', data, '--demo', '--seed', '1000000']
    const child = startCommand(args, ['ignore', 'pipe', 'pipe'])
    cleanUp.push(() => child.kill('SIGKILL'))
    const ended = once(child, 'close')
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (output += chunk))
    await until(async () => countOf('pets') > 0 || child.exitCode !== null)
    child.kill('SIGTERM')
    expect([await ended, output.replace(SQLITE_WARNING, '')]).toEqual([
      [0, null],
      '\nClosing: running requests may take up to 10 s. Press Ctrl-C again to exit at once.\n',
    ])
    expect(countOf('pets')).toBeLessThan(1_000_000)
    expect(countOf('keys')).toBe(0)
  })

  test('rate-limit counts continue after a restart', async () => {
    const token = await issueKey('--plan', 'free', '--limits', '1000000/3')
    for (const remaining of ['2', '1', '0']) {
      const server = await serveFile()
      const response = await get(`${server.url}/pets`, token)
      expect([response.status, response.headers.get('x-ratelimit-remaining')]).toEqual([200, remaining])
      await server.end('SIGKILL')
    }
    const server = await serveFile()
    expect((await get(`${server.url}/pets`, token)).status).toBe(429)
  })

  test('after its file is deleted, a server acknowledges no animal, and is not ready', async () => {
    const token = await issueKey('--plan', 'pro')
    const server = await serveFile('--seed', '0')
    rmSync(data)
    expect((await create(server.url, token, 'Rex')).status).toBe(503)
    const ready = await fetch(new URL('/ready', server.url))
    expect([ready.status, await ready.json()]).toEqual([
      503,
      { status: 'unavailable', failing: ['storage', 'keys', 'quota'] },
    ])
    await until(async () => server.output().includes(`petstore: failed: the file ${data} was deleted or replaced`))
  })

  test('a killed server keeps every acknowledged animal', async () => {
    const token = await issueKey(...PLENTY)
    const created = new Map<number, string>()
    for (let round = 0; round < 20; round++) {
      const server = await serveFile('--seed', '0')
      const enough = created.size + 1 + ((round * 7) % 40)
      const write = async (writer: number) => {
        for (let i = 0; ; i++) {
          const response = await create(server.url, token, `${round}-${writer}-${i}`)
          expect(response.status).toBe(201)
          const { id, name } = (await response.json()) as Wire
          expect(created.has(id)).toBe(false)
          created.set(id, name)
          if (created.size >= enough) void server.end('SIGKILL')
        }
      }
      // Each `write` must reject, and only because the connection was lost.
      const ends = await Promise.allSettled(Array.from({ length: 8 }, (_, writer) => write(writer)))
      for (const end of ends) expect(String((end as PromiseRejectedResult).reason)).toMatch(/fetch failed|terminated/)
      await server.end('SIGKILL')
    }
    const server = await serveFile('--seed', '0')
    const found = new Map((await walk(server.url, token)).map(({ id, name }) => [id, name]))
    const lost = [...created].filter(([id, name]) => found.get(id) !== name)
    expect(lost).toEqual([])
    expect(created.size).toBeGreaterThan(20)
    const next = (await (await create(server.url, token, 'next')).json()) as Wire
    expect(next.id).toBeGreaterThan(Math.max(...found.keys()))
  })

  test('four processes together serve exactly as many requests as the limit allows', async () => {
    const token = await issueKey('--plan', 'free', '--limits', '1000000/1000')
    const servers = await Promise.all([1, 2, 3, 4].map(() => serveFile('--seed', '0')))
    // With more connections, a busy machine lets requests wait for the lock of the file until they get 503.
    const agent = new Agent({ keepAlive: true, maxSockets: 10 })
    cleanUp.push(() => agent.destroy())
    const asked = Array.from({ length: 4_000 }, (_, i) => {
      const { url } = servers[i % 4] as RunningServer
      return statusOf(`${url}/pets`, token, agent)
    })
    const statuses = await Promise.all(asked)
    const count = (status: number) => statuses.filter((other) => other === status).length
    expect({ 200: count(200), 429: count(429) }).toEqual({ 200: 1_000, 429: 3_000 })
  })

  test('petstore serve writes no token to the file or the log', async () => {
    const token = await issueKey('--plan', 'pro')
    const server = await serveFile('--log')
    await get(`${server.url}/pets`, token)
    await get(`${server.url}/pets`, `${token.slice(0, -1)}x`)
    const shown = server.output()
    const files = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1'))
    const secret = token.slice(4, 40)
    for (const text of [...files, shown]) expect(text.includes(secret)).toBe(false)
  })
})

function statusOf(url: string, token: string, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
    })
    request.on('error', reject)
    request.end()
  })
}

describe('petstore keys', () => {
  test('the commands of petstore keys can issue, list and revoke a key', async () => {
    const token = await issueKey(
      '--plan',
      'pro',
      '--account',
      'acme',
      '--label',
      'a\u001b[2Jb',
      '--expires',
      '2999-01-31',
    )
    const server = await serveFile()
    expect((await get(`${server.url}/pets`, token)).status).toBe(200)
    await server.end('SIGTERM')

    const listed = await runPetstore(['keys', 'list', '--data', data])
    expect(listed.stdout).toMatch(/^key_\w+ +active +pro +write +- +acme +\S+ +2999-01-31T00:00 +\S+ +a\\u001b\[2Jb$/m)
    const id = /key_\w+/.exec(listed.stdout)?.[0] ?? ''
    expect(await runPetstore(['keys', 'revoke', id, '--data', data])).toMatchObject({ code: 0, stderr: '' })
    expect(await runPetstore(['keys', 'revoke', id, '--data', data])).toEqual({
      code: 1,
      stdout: '',
      stderr: `petstore: the key ${id} is already revoked\n`,
    })
    expect((await runPetstore(['keys', 'list', '--data', data])).stdout).toMatch(new RegExp(`^${id} +revoked`, 'm'))

    const again = await serveFile()
    expect((await get(`${again.url}/pets`, token)).status).toBe(401)
  })

  test('petstore keys issue --json prints the token and the key', async () => {
    const args = ['keys', 'issue', '--data', data, '--json', '--plan', 'gold', '--limits', '7/70']
    const { stdout } = await runPetstore([...args, '--expires', '2999-01-31T00:00Z'])
    expect(JSON.parse(stdout)).toEqual({
      token: expect.stringMatching(/^pet_/),
      key: {
        id: expect.stringMatching(/^key_/),
        plan: 'gold',
        createdAt: expect.any(Number),
        limits: { perMinute: 7, perDay: 70 },
        expiresAt: Date.UTC(2999, 0, 31),
      },
    })
  })

  test('the flags of petstore keys update set and remove members of a key', async () => {
    const token = await issueKey('--plan', 'free', '--account', 'acme')
    const { stdout: listed } = await runPetstore(['keys', 'list', '--data', data, '--json'])
    const [{ id }] = JSON.parse(listed)
    const update = (...flags: string[]) => runPetstore(['keys', 'update', id, '--data', data, ...flags])
    const flags = ['--plan', 'gold', '--limits', '7/70', '--label', 'desk', '--expires', '2999-01-31']
    expect((await update(...flags)).stdout).toMatch(
      /^key_\w+ +active +gold +write +7\/70 +acme +\S+ +2999-01-31T00:00 +- +desk$/m,
    )
    const server = await serveFile()
    expect((await get(`${server.url}/pets`, token)).headers.get('x-ratelimit-limit')).toBe('7')
    const removed = await update('--json', '--plan', 'pro', '--no-limits', '--no-account', '--no-label', '--no-expires')
    // A server stores the last use when it has time.
    const { lastUsedOn: _, ...key } = JSON.parse(removed.stdout)
    expect(key).toEqual({ id, plan: 'pro', createdAt: expect.any(Number) })
  })

  test('petstore keys update rejects an empty change, and an unknown or revoked key', async () => {
    await issueKey('--plan', 'free')
    const { stdout: listed } = await runPetstore(['keys', 'list', '--data', data, '--json'])
    const [{ id }] = JSON.parse(listed)
    await runPetstore(['keys', 'revoke', id, '--data', data])
    const update = async (id: string, ...flags: string[]) =>
      (await runPetstore(['keys', 'update', id, '--data', data, ...flags])).stderr
    expect(await update(id)).toMatch(/^petstore: expected a change, such as --plan pro/)
    expect(await update(id, '--no-limits')).toBe(
      'petstore: --plan: expected a plan, because a key without its own limits needs one\n',
    )
    expect(await update(id, '--no-label')).toBe(`petstore: the key ${id} is already revoked\n`)
    expect(await update('key_0', '--no-label')).toBe(
      'petstore: there is no key with this id: petstore keys list shows the ids\n',
    )
  })

  test.each([
    [
      ['--plan', 'gold'],
      /^petstore: --plan: expected one of free, pro, business, enterprise; for a plan of your own, repeat the --plan-limits of the server, such as .*gold=10\/100, or give .*: --limits 10\/100$/m,
    ],
    [
      ['--plan', 'enterprise'],
      /^petstore: --limits: the plan enterprise .*--plan-limits enterprise=10\/100, or give .*--limits 10\/100$/m,
    ],
    [['--plan', 'pro', '--expires', '1893456000'], /--expires.*Expected a time such as 2030-01-31.*or milliseconds/],
  ])('petstore keys issue rejects the flags %j', async (flags, message) => {
    const { code, stdout, stderr } = await runPetstore(['keys', 'issue', '--data', data, ...flags])
    expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(message) })
  })

  test('petstore keys issue accepts a plan that --plan-limits defines', async () => {
    const token = await issueKey('--plan', 'gold', '--plan-limits', 'gold=7/70')
    const server = await serveFile('--plan-limits', 'gold=7/70')
    expect((await get(`${server.url}/pets`, token)).headers.get('x-ratelimit-limit')).toBe('7')
  })

  test('petstore keys list rejects a file of a later release', async () => {
    const database = new Libsql(data)
    sqlite(database)
    database.exec('UPDATE petstore_schema SET version = 99')
    database.close()
    const { code, stderr } = await runPetstore(['keys', 'list', '--data', data])
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^petstore: --data: expected a schema of version \d+ at most/),
    ])
  })

  test('several commands can open the same new file at the same time', async () => {
    await Promise.all(Array.from({ length: 8 }, () => issueKey('--plan', 'free')))
    const { stdout } = await runPetstore(['keys', 'list', '--data', data, '--json'])
    expect(JSON.parse(stdout)).toHaveLength(8)
  })
})

test('keys issue revokes the new key if it cannot print the token', async () => {
  const child = startCommand(['keys', 'issue', '--plan', 'pro', '--data', data], ['ignore', 'pipe', 'ignore'])
  child.stdout?.destroy()
  const [code] = await once(child, 'exit')
  expect(code).toBe(1)
  const { stdout } = await runPetstore(['keys', 'list', '--json', '--data', data])
  expect(JSON.parse(stdout)).toMatchObject([{ plan: 'pro', revokedAt: expect.any(Number) }])
})

test('printed commands quote the file name for the shell', async () => {
  data = join(folder, "the shop's pets.db")
  const server = await serveFile()
  expect(server.output()).toContain(`petstore keys issue --data '${data.replaceAll("'", "'\\''")}' --plan`)
})

test('other users can neither read nor write a new file', async () => {
  await serveFile()
  const files = readdirSync(folder)
  expect(files).toContain('pets.db-wal')
  for (const file of files) expect(statSync(join(folder, file)).mode & 0o007).toBe(0)
})

test('petstore never loads bun:sqlite from a node_modules folder', async () => {
  const planted = join(folder, 'node_modules', 'bun:sqlite')
  mkdirSync(planted, { recursive: true })
  writeFileSync(join(planted, 'index.js'), "console.error('planted')")
  const outcome = await runPetstore(['keys', 'issue', '--plan', 'free', '--data', data], {}, folder)
  expect(outcome).toMatchObject({ code: 0, stderr: expect.not.stringContaining('planted') })
})

describe('a command with an invalid file or database', () => {
  test.each([
    [['keys', 'list'], 'the database of the animals and keys is missing: give --data <file> or --database-url <url>'],
    [['keys', 'list', '--data', '/nowhere/pets.db'], 'there is no file /nowhere/pets.db'],
    [['serve', '--data', '/nowhere/pets.db'], 'cannot use /nowhere/pets.db: there is no folder /nowhere\n'],
    [['serve', '--data', `${import.meta.filename}/pets.db`], `there is no folder ${import.meta.filename}\n`],
    [['serve', '--data', import.meta.dirname], `cannot use ${import.meta.dirname}: it is a folder, not a file\n`],
    [['keys', 'list', '--data', import.meta.dirname], `${import.meta.dirname}: it is a folder, not a file\n`],
    [['pets', 'count', '--data', import.meta.filename], `cannot use ${import.meta.filename}: `],
    [
      ['keys', 'revoke', 'pet_secret', '--data', import.meta.filename],
      'expected the id of the key, as petstore keys list shows it; got a token',
    ],
    [
      ['serve', '--database-url', 'postgres://me:secret@127.0.0.1:1/pets'],
      'cannot use PostgreSQL at 127.0.0.1:1/pets: ',
    ],
    [['serve', '--database-url', 'http://me:secret@127.0.0.1'], '--database-url: expected a URL such as postgres://'],
    [['serve', '--redis-url', 'redis://:secret@127.0.0.1:1'], 'cannot use Redis at 127.0.0.1:1: '],
    [['serve', '--redis-url', 'redis://:100%secret@127.0.0.1:1'], 'cannot use Redis at 127.0.0.1:1: '],
    [['serve', '--data', ''], "option '--data <file>' is invalid. Expected the name of a file."],
    [['keys', 'issue', '--plan', 'pro', '--data', ':memory:'], 'Expected the name of a file.'],
    [['keys', 'issue', '--plan', 'pro', '--data', 'file:pets.db'], 'Expected the name of a file.'],
    [['keys', 'issue', '--plan', 'pro', '--data', 'x.db', '--expires', '2030-02-30'], 'Expected a time such as '],
    [['keys', 'list', '--database-url', 'postgres://me:1/secret@127.0.0.1/pets'], 'as %2F'],
    [['serve', '--redis-url', 'redis://me:1/secret@127.0.0.1'], 'as %2F'],
    [['serve', '--redis-url', 'secret'], '--redis-url: expected a URL such as redis://'],
  ])('petstore prints an error of one line for the arguments %j', async (args, message) => {
    const { code, stdout, stderr } = await runPetstore(args)
    expect(code).toBe(1)
    expect(stdout).toBe('')
    expect(stderr).toMatch(/^petstore: [^\n]+\n$/)
    expect(stderr).toContain(message)
    expect(stderr).not.toContain('secret')
  })

  test.skipIf(process.versions.sqlite)('says once that the driver may damage a file', async () => {
    const child = startCommand(['keys', 'issue', '--plan', 'free', '--data', data], 'pipe')
    let text = ''
    child.stderr?.on('data', (chunk) => (text += chunk))
    await once(child, 'close')
    expect(text.match(new RegExp(SQLITE_WARNING, 'gm'))).toHaveLength(1)
  })

  test('the error names a file that another process has locked', async () => {
    await issueKey('--plan', 'free')
    const holder = new Libsql(data)
    cleanUp.push(() => holder.close())
    holder.exec('BEGIN IMMEDIATE')
    const { code, stderr } = await runPetstore(['keys', 'issue', '--plan', 'free', '--data', data])
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(
        /^petstore: cannot use .*pets\.db: the database is locked: another process did not finish writing within 5000 ms\n$/,
      ),
    ])
  })

  test('the error names a file that cannot be written', async () => {
    await issueKey('--plan', 'free')
    const database = new Libsql(data)
    database.exec("CREATE TRIGGER full BEFORE INSERT ON petstore_pets BEGIN SELECT RAISE(ABORT, 'no room'); END")
    database.close()
    for (const args of [
      ['serve', '--port', '0', '--seed', '1', '--data', data],
      ['pets', 'add', '--name', 'Rex', '--category-id', '1', '--data', data],
    ])
      expect(await runPetstore(args)).toEqual({
        code: 1,
        stdout: '',
        stderr: `petstore: cannot use ${data}: no room\n`,
      })
  })

  test('the flag --data overrides PETSTORE_DATABASE_URL', async () => {
    const env = { PETSTORE_DATABASE_URL: 'postgres://127.0.0.1:1/pets' }
    const { code } = await runPetstore(['keys', 'issue', '--plan', 'free', '--data', data], env)
    expect(code).toBe(0)
    expect((await runPetstore(['keys', 'list'], { ...env, PETSTORE_DATA: '' })).code).toBe(1)
  })

  test('--data is rejected together with --database-url', async () => {
    const args = ['serve', '--data', data, '--database-url', 'postgres://127.0.0.1:1/pets']
    expect((await runPetstore(args)).stderr).toBe(
      'petstore: --data and --database-url cannot be combined: give one of them\n',
    )
  })
})
