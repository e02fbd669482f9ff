import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../conformance/sqlite/open.ts'
import { runPetstore, startServer } from '../../support/petstore-command.ts'
import { type PostgresServer, postgresPrograms, startPostgres } from '../../support/postgres-server.ts'
import { missing } from '../../support/skips.ts'

let folder: string
let data: readonly string[]

beforeEach(() => {
  const temporary = temporaryFolder()
  folder = temporary.folder
  data = ['--data', join(folder, 'pets.db')]
  onTestFinished(temporary.remove)
})

function pets(...args: readonly string[]) {
  return runPetstore(['pets', ...args])
}

/** Runs a command that has to succeed, and returns its standard output. */
async function output(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await pets(...args)
  expect({ args, code, stderr }).toMatchObject({ args, code: 0 })
  return stdout
}

async function expectLifeOfAnAnimal(database: readonly string[]): Promise<void> {
  const rex = ['--name', 'Rex', '--category-id', '9223372036854775807']
  const added = await output('add', ...rex, '--json', ...database)
  expect(added).toBe('{"id":1,"name":"Rex","categoryId":9223372036854775807,"status":"available"}\n')
  await output('add', '--name', 'Misty', '--category-id', '-1', '--status', 'pending', ...database)

  const sell = ['update', '1', '--status', 'sold', '--if-status', 'available', ...database]
  expect(await output(...sell)).toMatch(/^ID .+\n1 +sold +9223372036854775807 +Rex\n$/)
  expect(await pets(...sell)).toEqual({
    code: 1,
    stdout: '',
    stderr: 'petstore: --if-status: the animal 1 is sold, not available, so nothing was changed\n',
  })
  expect(await output('list', ...database)).toMatch(
    /^ID +STATUS +CATEGORY +NAME\n1 +sold .+ Rex\n2 +pending +-1 +Misty\n$/,
  )
  expect(await output('list', '--status', 'pending', '--json', ...database)).toBe(
    '[{"id":2,"name":"Misty","categoryId":-1,"status":"pending"}]\n',
  )
  expect(await output('count', '--status', 'sold', ...database)).toBe('1\n')

  await output('remove', '1', '--if-status', 'sold', ...database)
  const noAnimal = { code: 1, stdout: '', stderr: 'petstore: there is no animal with the id 1\n' }
  for (const args of [['get', '1'], ['remove', '1'], sell.slice(0, 6)])
    expect(await pets(...args, ...database)).toEqual(noAnimal)
  expect(await output('count', '--json', ...database)).toBe('{"count":1}\n')
}

test('petstore pets adds, sells, lists, counts and removes animals of a file', () => expectLifeOfAnAnimal(data))

describe.skipIf(missing('PostgreSQL', (await postgresPrograms()) !== undefined))('on PostgreSQL', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.remove())

  test('petstore pets adds, sells, lists, counts and removes animals', () =>
    expectLifeOfAnAnimal(['--database-url', server.url]))
})

test('a running server shows a change of petstore pets at once', async () => {
  const issued = await runPetstore(['keys', 'issue', '--plan', 'pro', ...data])
  const server = await startServer(...data, '--seed', '1')
  onTestFinished(() => server.end('SIGKILL'))
  await output('update', '1', '--name', 'Rex the second', '--status', 'sold', ...data)
  const headers = { authorization: `Bearer ${issued.stdout.trim()}` }
  const listed = await fetch(`${server.url}/pets?status=sold`, { headers })
  expect(await listed.json()).toEqual([{ id: 1, name: 'Rex the second', categoryId: 1, status: 'sold' }])
})

test('petstore pets list prints pages, and how to read the next one', async () => {
  for (const name of ['Rex', 'Misty']) await output('add', '--name', name, '--category-id', '1', ...data)
  const first = await pets('list', '--limit', '1', ...data)
  expect(first.stderr).toContain('There may be more: petstore pets list --after 1\n')
  expect(await output('list', '--after', '1', ...data)).toContain('Misty')
  expect(await output('list', '--after', '2', ...data)).toBe('No animals were found.\n')
})

test.each([
  [['get', 'x'], "invalid argument 'id'. Expected the id of an animal, such as 5."],
  [['update', '1'], 'expected a change, such as --status sold'],
  [['update', '1', '--name', ' '], "option '--name <name>' is invalid. Expected a string of at most 1000 characters"],
  [['add', '--name', 'a', '--category-id', '1.5'], "option '--category-id <id>' is invalid. Expected an integer"],
  [['add', '--name', 'a', '--category-id', '1', '--status', 'lost'], 'Expected one of available, pending, sold.'],
  [['add', '--name', 'a'], "required option '--category-id <id>' not specified"],
])('petstore pets %j is an error of one line', async (args, message) => {
  const { code, stderr } = await pets(...args, ...data)
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^petstore: [^\n]+\n$/)])
  expect(stderr).toContain(message)
})

test.each(['list', 'count', 'get', 'update', 'remove'])('petstore pets %s creates no file', async (command) => {
  const args = { get: ['1'], update: ['1', '--name', 'a'], remove: ['1'] }[command] ?? []
  expect(await pets(command, ...args, ...data)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('there is no file'),
  })
  expect(existsSync(join(folder, 'pets.db'))).toBe(false)
})
