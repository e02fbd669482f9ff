import { afterEach, beforeEach, expect, test } from 'vitest'
import { temporaryFolder } from '../../conformance/sqlite/open.ts'
import { type RunningServer, runPetstore, startServer } from '../../support/petstore-command.ts'

const ROUNDS = 20
const KILLS = Number(process.env.KILLS ?? 4)

let data: string
let token: string
let cleanUp: (() => unknown)[]

beforeEach(async () => {
  const { folder, remove } = temporaryFolder()
  cleanUp = [remove]
  data = `${folder}/pets.db`
  const args = ['--data', data, '--plan', 'enterprise', '--limits', '1000000/1000000']
  token = (await runPetstore(['keys', 'issue', ...args])).stdout.trim()
})

afterEach(async () => {
  for (const clean of cleanUp.reverse()) await clean()
})

async function serveFile(): Promise<RunningServer> {
  const server = await startServer('--data', data)
  cleanUp.push(() => server.end('SIGKILL'))
  return server
}

/** Adds an animal with a key. Returns its id, or `undefined` if no response arrives. */
async function add({ url }: RunningServer, key: string): Promise<number | undefined> {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'idempotency-key': key,
  }
  try {
    const response = await fetch(`${url}/pets`, { method: 'POST', headers, body: `{"name":"${key}","categoryId":1}` })
    return response.status === 201 ? ((await response.json()) as { id: number }).id : undefined
  } catch {
    return undefined
  }
}

/** Returns the names of all animals. */
async function names({ url }: RunningServer): Promise<string[]> {
  const all: string[] = []
  for (let target: string | null = `${url}/pets?limit=100`; target !== null; ) {
    const page: Response = await fetch(target, { headers: { authorization: `Bearer ${token}` } })
    all.push(...((await page.json()) as { name: string }[]).map(({ name }) => name))
    const cursor: string | null = page.headers.get('x-next-cursor')
    target = cursor === null ? null : `${url}/pets?limit=100&cursor=${cursor}`
  }
  return all
}

test('processes that share a file add one animal for one idempotency key', async () => {
  const servers = await Promise.all([serveFile(), serveFile(), serveFile()])
  const keys = Array.from({ length: ROUNDS }, (_, round) => `order-${round}`)
  for (const key of keys) {
    const ids = await Promise.all([...servers, ...servers].map((server) => add(server, key)))
    expect(ids[0]).toBeDefined()
    expect(new Set(ids).size).toBe(1)
  }
  expect(await names(servers[0])).toEqual(keys)
})

test('repeated requests add each animal once although the process is killed', async () => {
  let server = await serveFile()
  let kill: Promise<void> | undefined
  let last = 0
  const added: string[] = []
  const addUntilKilled = async () => {
    for (;;) {
      const key = `order-${++last}`
      added.push(key)
      // No response: the killed process may or may not have added this animal. The request is repeated to the next process.
      if ((await add(server, key)) === undefined) return key
      if (added.length % 40 === 0) kill ??= server.end('SIGKILL')
    }
  }
  for (let kills = 0; kills < KILLS; kills++) {
    const open = await Promise.all(Array.from({ length: 8 }, addUntilKilled))
    await kill
    kill = undefined
    server = await serveFile()
    for (const key of open) expect(await add(server, key)).toBeDefined()
  }
  expect((await names(server)).toSorted()).toEqual(added.toSorted())
})
