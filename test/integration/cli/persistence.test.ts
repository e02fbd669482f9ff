import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { Agent, request as httpRequest } from 'node:http'
import { join } from 'node:path'
import Libsql from 'libsql'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type RunningServer, runCommand, startCommand, startServer } from '../../support/petstore-command.ts'
import { rawConnection } from '../../support/raw-http.ts'
import { until } from '../../support/until.ts'
import { temporaryFolder } from '../sqlite/open.ts'

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
  const { code, stdout, stderr } = await runCommand(['keys', 'issue', '--data', data, ...args])
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

/** All animals, from page to page. */
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

/** How many rows a table has. */
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
  test('has everything again after a restart: animals, keys and counts', async () => {
    const first = await serveFile()
    const token = /business +(pet_\w+)/.exec(first.output())?.[1] ?? ''
    const made = await create(first.url, token, 'Tiger 🐅')
    expect(made.status).toBe(201)
    const before = await get(`${first.url}/pets`, token)
    const pets = (await before.json()) as Wire[]
    expect(pets).toHaveLength(9)
    await first.end('SIGTERM')

    const second = await serveFile()
    expect(first.output()).toContain('\n8 demo animals were added.\n')
    expect(second.output()).not.toMatch(/pet_|demo/)
    // Quoted, where the folder's path asks for that.
    const unquoted = (text: string) => text.replaceAll(/['\\]/g, '')
    expect(unquoted(second.output())).toContain(unquoted(` petstore keys list --data ${data}, `))
    const after = await get(`${second.url}/pets`, token)
    expect(await after.json()).toEqual(pets)
    const { stdout } = await runCommand(['keys', 'list', '--data', data, '--json'])
    expect(JSON.parse(stdout)).toHaveLength(4)
  })

  test('lets a running request finish when a signal comes, and keeps what it adds', async () => {
    const server = await serveFile()
    const token = /business +(pet_\w+)/.exec(server.output())?.[1] ?? ''
    const connection = await rawConnection(server.url)
    const body = '{"name":"Rex","categoryId":1}'
    const type = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue`
    await connection.send(`POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n${type}\r\n\r\n`)
    expect((await connection.answer()).status).toBe(100)
    const ended = server.end('SIGTERM')
    await until(async () => server.output().includes('Closing.'))
    await connection.send(body)
    expect((await connection.answer()).status).toBe(201)
    await ended
    expect(countOf('pets')).toBe(9)
  })

  test('ends cleanly by a signal that comes while it is furnished', async () => {
    const args = ['serve', '--port', '0', '--data', data, '--seed', '1000000']
    const child = startCommand(args, ['ignore', 'pipe', 'pipe'])
    cleanUp.push(() => child.kill('SIGKILL'))
    const ended = once(child, 'close')
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (output += chunk))
    await until(async () => countOf('pets') > 0 || child.exitCode !== null)
    child.kill('SIGTERM')
    expect([await ended, output]).toEqual([[0, null], '\nClosing.\n'])
    expect(countOf('pets')).toBeLessThan(1_000_000)
    expect(countOf('keys')).toBe(0)
  })

  test('goes on counting after a restart', async () => {
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

  test('loses nothing that a client was told of, whenever it is killed', { timeout: 120_000 }, async () => {
    const token = await issueKey(...PLENTY)
    const told = new Map<number, string>()
    for (let round = 0; round < 20; round++) {
      const server = await serveFile('--seed', '0')
      const enough = told.size + 1 + ((round * 7) % 40)
      const write = async (writer: number) => {
        for (let i = 0; ; i++) {
          const response = await create(server.url, token, `${round}-${writer}-${i}`)
          expect(response.status).toBe(201)
          const { id, name } = (await response.json()) as Wire
          expect(told.has(id)).toBe(false)
          told.set(id, name)
          if (told.size >= enough) void server.end('SIGKILL')
        }
      }
      // Each ends by the loss of its connection, the only error that may come.
      const ends = await Promise.allSettled(Array.from({ length: 8 }, (_, writer) => write(writer)))
      for (const end of ends) expect(String((end as PromiseRejectedResult).reason)).toMatch(/fetch failed|terminated/)
      await server.end('SIGKILL')
    }
    const server = await serveFile('--seed', '0')
    const found = new Map((await walk(server.url, token)).map(({ id, name }) => [id, name]))
    const lost = [...told].filter(([id, name]) => found.get(id) !== name)
    expect(lost).toEqual([])
    expect(told.size).toBeGreaterThan(20)
    const next = (await (await create(server.url, token, 'next')).json()) as Wire
    expect(next.id).toBeGreaterThan(Math.max(...found.keys()))
  })

  test('serves exactly the limit from four processes at once', { timeout: 120_000 }, async () => {
    const token = await issueKey('--plan', 'free', '--limits', '1000000/1000')
    const servers = await Promise.all([1, 2, 3, 4].map(() => serveFile('--seed', '0')))
    const agent = new Agent({ keepAlive: true, maxSockets: 200 })
    cleanUp.push(() => agent.destroy())
    const asked = Array.from({ length: 10_000 }, (_, i) => {
      const { url } = servers[i % 4] as RunningServer
      return statusOf(`${url}/pets`, token, agent)
    })
    const statuses = await Promise.all(asked)
    const count = (status: number) => statuses.filter((other) => other === status).length
    expect({ 200: count(200), 429: count(429) }).toEqual({ 200: 1_000, 429: 9_000 })
  })

  test('keeps tokens nowhere, only their SHA-256', async () => {
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
  test('issues, lists and revokes', async () => {
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

    const listed = await runCommand(['keys', 'list', '--data', data])
    expect(listed.stdout).toMatch(/^key_\w+ +live +pro +- +acme +\S+ +2999-01-31T00:00 +a\ufffd\[2Jb$/m)
    const id = /key_\w+/.exec(listed.stdout)?.[0] ?? ''
    expect(await runCommand(['keys', 'revoke', id, '--data', data])).toMatchObject({ code: 0, stderr: '' })
    expect(await runCommand(['keys', 'revoke', id, '--data', data])).toMatchObject({ code: 1 })
    expect((await runCommand(['keys', 'list', '--data', data])).stdout).toMatch(new RegExp(`^${id} +revoked`, 'm'))

    await issueKey('--plan', 'free', '--expires', '2000-01-01')
    expect((await runCommand(['keys', 'list', '--data', data])).stdout).toMatch(/^key_\w+ +expired +free /m)

    const again = await serveFile()
    expect((await get(`${again.url}/pets`, token)).status).toBe(401)
  })

  test.each([
    [['--plan', 'Pro'], /the plan Pro allows, with --plan-limits/],
    [['--plan', 'pro'], undefined],
    [['--plan', 'gold', '--limits', '1/2'], undefined],
  ])('says of %j what a server must be told', async (flags, told) => {
    const { code, stdout, stderr } = await runCommand(['keys', 'issue', '--data', data, ...flags])
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^pet_\w+\n$/) })
    if (told) expect(stderr).toMatch(told)
    else expect(stderr).not.toContain('--plan-limits')
  })

  test('issues keys of a plan of which the server is told', async () => {
    const token = await issueKey('--plan', 'gold')
    const server = await serveFile('--plan-limits', 'gold=7/70')
    expect((await get(`${server.url}/pets`, token)).headers.get('x-ratelimit-limit')).toBe('7')
  })

  test('makes one schema of a new file, however many begin with it at once', async () => {
    await Promise.all(Array.from({ length: 8 }, () => issueKey('--plan', 'free')))
    const { stdout } = await runCommand(['keys', 'list', '--data', data, '--json'])
    expect(JSON.parse(stdout)).toHaveLength(8)
  })
})

describe('petstore seed', () => {
  test('takes up where it was broken off', { timeout: 60_000 }, async () => {
    const args = ['seed', '--count', '60000', '--data', data]
    const broken = startCommand(args)
    const server = await serveFile('--seed', '0')
    const token = await issueKey(...PLENTY)
    const hasSome = async () => ((await (await get(`${server.url}/pets?limit=1`, token)).json()) as Wire[]).length > 0
    while (broken.exitCode === null && !(await hasSome()))
      await once(broken, 'spawn', { signal: AbortSignal.timeout(20) }).catch(() => {})
    if (broken.exitCode === null) {
      broken.kill('SIGKILL')
      await once(broken, 'exit')
    }
    const { stdout } = await runCommand(args)
    const [, added, found] = /^(\d+) animals added to .*, (?:at least )?(\d+) were there\.$/m.exec(stdout) ?? []
    expect(Number(added) + Number(found)).toBe(60_000)
    expect(Number(found)).toBeGreaterThan(0)
    expect((await runCommand(args)).stdout).toMatch(/^0 animals added to .*, at least 60000 were there\.$/m)
    const pets = await walk(server.url, token)
    expect(pets.map(({ id }) => id)).toEqual(Array.from({ length: 60_000 }, (_, i) => i + 1))
    expect(pets.at(-1)).toMatchObject({ name: 'Biscuit 6000' })
  })
})

test('a key whose token nobody could read is not left alive', async () => {
  const child = startCommand(['keys', 'issue', '--plan', 'pro', '--data', data], ['ignore', 'pipe', 'ignore'])
  child.stdout?.destroy()
  const [code] = await once(child, 'exit')
  expect(code).toBe(1)
  const { stdout } = await runCommand(['keys', 'list', '--json', '--data', data])
  expect(JSON.parse(stdout)).toMatchObject([{ plan: 'pro', revokedAt: expect.any(Number) }])
})

test('a file is named as a shell takes it', async () => {
  data = join(folder, "the shop's pets.db")
  await (await serveFile()).end('SIGTERM')
  const again = await serveFile()
  expect(again.output()).toContain(`petstore keys list --data '${data.replaceAll("'", "'\\''")}',`)
})

test("what it creates is nobody else's to read", async () => {
  await serveFile()
  const files = readdirSync(folder)
  expect(files).toContain('pets.db-wal')
  for (const file of files) expect(statSync(join(folder, file)).mode & 0o007).toBe(0)
})

test('a folder that bears the name of a driver of a runtime is none', async () => {
  const planted = join(folder, 'node_modules', 'bun:sqlite')
  mkdirSync(planted, { recursive: true })
  writeFileSync(join(planted, 'index.js'), "console.error('planted')")
  const outcome = await runCommand(['keys', 'issue', '--plan', 'free', '--data', data], process.env, folder)
  expect(outcome).toMatchObject({ code: 0, stderr: expect.not.stringContaining('planted') })
})

describe('one clear line where something is not there', () => {
  test.each([
    [['keys', 'list'], 'say where everything is kept: --data <file> or --database-url <url>'],
    [['keys', 'list', '--data', '/nowhere/pets.db'], 'there is no file /nowhere/pets.db'],
    [['serve', '--data', '/nowhere/pets.db'], 'cannot use /nowhere/pets.db: there is no folder /nowhere\n'],
    [['serve', '--data', `${import.meta.filename}/pets.db`], `there is no folder ${import.meta.filename}\n`],
    [['serve', '--data', import.meta.dirname], `cannot use ${import.meta.dirname}: it is a folder, not a file\n`],
    [['keys', 'list', '--data', import.meta.dirname], `${import.meta.dirname}: it is a folder, not a file\n`],
    [['seed', '--count', '1', '--data', import.meta.filename], `cannot use ${import.meta.filename}: `],
    [['keys', 'revoke', 'pet_secret', '--data', import.meta.filename], 'a token was given: expected the id of the key'],
    [['seed', '--data', 'x.db'], "required option '--count <number>' not specified"],
    [
      ['serve', '--database-url', 'postgres://me:secret@127.0.0.1:1/pets'],
      'cannot use PostgreSQL at 127.0.0.1:1/pets: ',
    ],
    [['serve', '--database-url', 'http://me:secret@127.0.0.1'], '--database-url: expected a URL such as postgres://'],
    [['serve', '--redis-url', 'redis://:secret@127.0.0.1:1'], 'cannot use Redis at 127.0.0.1:1: '],
    [['serve', '--redis-url', 'redis://:100%secret@127.0.0.1:1'], 'cannot use Redis at 127.0.0.1:1: '],
    [['serve', '--data', ''], "option '--data <file>' argument '' is invalid. Expected the name of a file."],
    [['keys', 'issue', '--plan', 'pro', '--data', ':memory:'], 'Expected the name of a file.'],
    [['keys', 'issue', '--plan', 'pro', '--data', 'file:pets.db'], 'Expected the name of a file.'],
    [['keys', 'issue', '--plan', 'pro', '--data', 'x.db', '--expires', '2030-02-30'], 'Expected a date such as '],
    [['keys', 'list', '--database-url', 'postgres://me:1/secret@127.0.0.1/pets'], 'is written %2F'],
    [['serve', '--redis-url', 'redis://me:1/secret@127.0.0.1'], 'is written %2F'],
    [['serve', '--redis-url', 'secret'], '--redis-url: expected a URL such as redis://'],
  ])('petstore %j', async (args, message) => {
    const { code, stdout, stderr } = await runCommand(args)
    expect(code).toBe(1)
    expect(stdout).toBe('')
    expect(stderr).toMatch(/^petstore: [^\n]+\n$/)
    expect(stderr).toContain(message)
    expect(stderr).not.toContain('secret')
  })

  test('a file that another process has locked', async () => {
    await issueKey('--plan', 'free')
    const holder = new Libsql(data)
    cleanUp.push(() => holder.close())
    holder.exec('BEGIN IMMEDIATE')
    const { code, stderr } = await runCommand(['keys', 'issue', '--plan', 'free', '--data', data])
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^petstore: cannot use .*pets\.db: database is locked\n$/),
    ])
  })

  test('a file in which no animal can be put', async () => {
    await issueKey('--plan', 'free')
    const database = new Libsql(data)
    database.exec("CREATE TRIGGER full BEFORE INSERT ON petstore_pets BEGIN SELECT RAISE(ABORT, 'no room'); END")
    database.close()
    const { code, stdout, stderr } = await runCommand(['serve', '--port', '0', '--data', data])
    expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: 'petstore: no room\n' })
  })

  test('a flag that is typed stands in for a variable that excludes it', async () => {
    const env = { PETSTORE_DATABASE_URL: 'postgres://127.0.0.1:1/pets' }
    const { code } = await runCommand(['keys', 'issue', '--plan', 'free', '--data', data], { ...process.env, ...env })
    expect(code).toBe(0)
    expect((await runCommand(['keys', 'list'], { ...process.env, ...env, PETSTORE_DATA: '' })).code).toBe(1)
  })

  test('petstore serve --data and --database-url', async () => {
    const args = ['serve', '--data', data, '--database-url', 'postgres://127.0.0.1:1/pets']
    expect((await runCommand(args)).stderr).toBe('petstore: --data and --database-url exclude one another\n')
  })
})
