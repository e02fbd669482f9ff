import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../conformance/sqlite/open.ts'
import { runPetstore, startCommand, startPetstore } from '../../support/petstore-command.ts'

let folder: string
let data: readonly string[]

beforeEach(() => {
  const temporary = temporaryFolder()
  folder = temporary.folder
  data = ['--data', join(folder, 'pets.db')]
  onTestFinished(temporary.remove)
})

const pets = (...args: readonly string[]) => runPetstore(['pets', ...args, ...data])
const listed = async () => JSON.parse((await pets('list', '--json', '--limit', '100')).stdout)
const count = async () => Number((await pets('count')).stdout)

/** Writes a file, and returns its path. */
function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

const REX = { name: 'Rex', categoryId: 1, status: 'available' }
const ADA = { name: 'Ada, "the cat"', categoryId: 2, status: 'sold' }

test.each([
  ['a JSON array', 'pets.json', `[${JSON.stringify(REX)},\n ${JSON.stringify(ADA)}]`],
  ['JSON lines', 'pets.jsonl', `\ufeff${JSON.stringify(REX)}\n\n${JSON.stringify(ADA)}`],
  ['CSV', 'pets.csv', 'status,name,categoryId\r\n,Rex,1\r\nsold,"Ada, ""the cat""",2\r\n'],
])('imports %s', async (_, name, content) => {
  expect(await pets('import', file(name, content))).toMatchObject({ code: 0, stdout: 'Added 2 animals.\n' })
  expect(await listed()).toEqual([
    { id: 1, ...REX },
    { id: 2, ...ADA },
  ])
})

test('a CSV file may mix line breaks', async () => {
  const path = file('pets.csv', 'categoryId,name\n1,Rex\r\n2,Ada\n3,"Max\r\n"\r4,Kiwi\r\n')
  expect((await pets('import', path)).code).toBe(0)
  expect((await listed()).map((pet: { name: string }) => pet.name)).toEqual(['Rex', 'Ada', 'Max\r\n', 'Kiwi'])
})

test('a quote inside a CSV value is a part of it, and lines are counted after a value of several lines', async () => {
  const path = file('pets.csv', 'name,categoryId\n"R\r\nex",1\nAda "the cat",2\nKiwi,x\n7" Max,3\n')
  const { stderr } = await pets('import', path, '--skip-invalid')
  expect(stderr).toContain('line 5: categoryId: expected an integer')
  expect((await listed()).map(({ name }: { name: string }) => name)).toEqual(['R\r\nex', 'Ada "the cat"', '7" Max'])
})

test('a file that is imported again adds nothing, unless --again has a new name', async () => {
  const path = file('pets.jsonl', `${JSON.stringify(REX)}\n${JSON.stringify(ADA)}\n`)
  await pets('import', path)
  expect((await pets('import', path)).stdout).toMatch(/^Added 0 animals\. 2 animals of this file were added within/)
  for (const added of [2, 0])
    expect((await pets('import', path, '--again', 'monday')).stdout).toMatch(new RegExp(`^Added ${added} animals`))
  expect(await count()).toBe(4)
})

test('wrong entries are reported with their lines, and then none or the others are added', async () => {
  const wrong = ['{"name":"a"}', '{"name":"Rex","categoryId":1,"status":"lost"}', '[]', '{"name":"Rex"', '{"nam']
  const path = file('pets.jsonl', [JSON.stringify(REX), ...wrong].join('\n'))
  const none = await pets('import', path)
  expect(none.code).toBe(1)
  expect(none.stderr.split('\n')).toEqual([
    expect.stringMatching(/pets\.jsonl, line 2: categoryId: expected an integer/),
    expect.stringMatching(/line 3: status: expected one of available, pending, sold, got the string "lost"$/),
    expect.stringMatching(
      /line 4: expected an animal with name and categoryId, perhaps with id and status, got an array/,
    ),
    expect.stringMatching(/line 5: cannot be read as JSON: /),
    expect.stringMatching(/line 6: cannot be read as JSON: /),
    'petstore: 5 of 6 animals cannot be added, so none was added: correct them, or give --skip-invalid',
    '',
  ])
  const others = await pets('import', path, '--skip-invalid')
  expect(others).toMatchObject({ code: 0, stdout: 'Added 1 animal.\n' })
  expect(await listed()).toEqual([{ id: 1, ...REX }])
})

test('of many wrong entries, the first twenty are printed', async () => {
  const { stderr } = await pets('import', file('pets.csv', `name,categoryId\n${'Rex,x\n'.repeat(10_000)}`))
  const lines = stderr.split('\n')
  expect(lines).toHaveLength(23)
  expect(lines[20]).toBe('and 9,980 more')
})

test.each([
  ['a JSON array that is cut off', 'a.json', '[{"name":"Rex","categoryId":1},{"name":"A', 'the file may be cut off'],
  ['text after a JSON array', 'a.json', '[]x', 'expected one JSON array, got "x" after it'],
  ['an object instead of an array', 'a.json', '{"name":"Rex"}', 'expected one JSON array, got "{" before it'],
  ['bytes that are not UTF-8', 'a.jsonl', new Uint8Array([0xff, 0x0a]), 'expected text in UTF-8'],
  ['an unknown column', 'a.csv', 'name,categoryId,breed\n', 'line 1: expected the columns name and categoryId'],
  ['a line with too few cells', 'a.csv', 'name,categoryId\nRex\n', 'line 2: expected 2 values, got 1'],
  ['an unclosed quote', 'a.csv', 'name,categoryId\n"Rex,1\n', 'a.csv: '],
  ['an entry of two megabytes', 'a.jsonl', 'x'.repeat(2_097_152), 'expected entries of at most 1,048,576 characters'],
  ['a name without a known format', 'pets', '', 'give --format json, jsonl, csv'],
])('%s is an error, and adds nothing', async (_, name, content, message) => {
  expect(await pets('import', file(name, content))).toMatchObject({ code: 1, stderr: expect.stringContaining(message) })
})

test('an import that was killed adds each animal once when it is run again', async () => {
  const names = Array.from({ length: 5_000 }, (_, i) => `Rex ${i}`)
  const lines = names.map((name) => JSON.stringify({ ...REX, name }))
  const path = file('pets.jsonl', lines.join('\n'))
  for (const animals of [1, 1_200]) {
    const child = startCommand(['pets', 'import', path, ...data])
    while (child.exitCode === null && !((await count()) >= animals));
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
  expect((await pets('import', path)).code).toBe(0)
  expect(await count()).toBe(5_000)
  const { stdout } = await pets('export')
  const exported = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).name)
  expect(exported.sort()).toEqual(names.sort())
})

test('an import with --keep-ids keeps the ids, and leaves existing animals as they are', async () => {
  const path = file('pets.csv', 'id,name,categoryId,status\n7,Rex,1,sold\n9007199254740993,Ada,2,\n')
  await pets('import', path, '--keep-ids')
  const again = file('more.csv', 'id,name,categoryId\n7,Other,1\n8,New,1\n')
  expect((await pets('import', again, '--keep-ids')).stdout).toBe(
    'Added 1 animal with the ids of the file. Left out 1 animal whose ids exist: 7\n',
  )
  expect((await pets('export', '--format', 'csv')).stdout).toBe(
    'id,name,categoryId,status\n7,Rex,1,sold\n8,New,1,available\n9007199254740993,Ada,2,available\n',
  )
  const twice = file('twice.csv', 'id,name,categoryId\n20,First,1\n21,New,1\n20,Second,1\n')
  expect((await pets('import', twice, '--keep-ids')).stdout).toMatch(/^Added 2 animals .* whose ids exist: 20$/m)
  const wrong = file('wrong.csv', 'id,name,categoryId\n0,Rex,1\n,Rex,1\n')
  expect((await pets('import', wrong, '--keep-ids')).stderr).toMatch(/line 2: id: expected [\s\S]*line 3: id: expected/)
})

describe('export', () => {
  test('replaces no file', async () => {
    await pets('add', '--name', 'Rex', '--category-id', '1')
    const path = file('all.json', 'mine')
    expect(await pets('export', path)).toMatchObject({ code: 1, stderr: expect.stringContaining('exists already') })
    expect(readFileSync(path, 'utf8')).toBe('mine')
  })

  test('writes only animals with a status, and an empty file of each format', async () => {
    await pets('add', '--name', 'Rex', '--category-id', '1')
    const exported = async (format: string, status: string) =>
      (await pets('export', '--format', format, '--status', status)).stdout
    expect(await exported('json', 'available')).toBe('[{"id":1,"name":"Rex","categoryId":1,"status":"available"}\n]\n')
    expect(await exported('json', 'sold')).toBe('[\n]\n')
    expect(await exported('csv', 'sold')).toBe('id,name,categoryId,status\n')
    expect(await exported('jsonl', 'sold')).toBe('')
  })

  test.each(['json', 'jsonl', 'csv'])('an import of an export as %s has the same animals', async (format) => {
    const name = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
      .filter((text) => /[^\s\x85]/.test(text) && !text.includes('\u0000'))
    const animals = fc.sample(
      fc.record({ name, categoryId: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }) }),
      200,
    )
    const lines = animals.map(({ name, categoryId }) => `{"name":${JSON.stringify(name)},"categoryId":${categoryId}}`)
    await pets('import', file('pets.jsonl', lines.join('\n')))
    const path = join(folder, `all.${format}`)
    await pets('export', path)
    const before = (await pets('export')).stdout
    data = ['--data', join(folder, 'other.db')]
    await pets('import', path, '--keep-ids')
    expect((await pets('export')).stdout).toBe(before)
  })
})

test('petstore serve --pets starts with the animals of a file, and with no demo animals', async () => {
  const path = file('pets.csv', 'id,name,categoryId\n7,Rex,1\n')
  const server = await startPetstore('--pets', path)
  onTestFinished(() => void server.child.kill())
  const response = await fetch(`${server.address}/pets`, server.bearer('pro'))
  expect(await response.json()).toEqual([{ id: 7, ...REX }])
})

test('petstore serve --pets says what is wrong with a file', async () => {
  const wrong = await runPetstore(['serve', '--port', '0', '--pets', file('pets.csv', 'name,categoryId\n,1\n')])
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('pets.csv, line 2: name: expected a string')])
  const stored = await runPetstore(['serve', '--port', '0', '--pets', file('a.csv', ''), ...data])
  expect(stored.stderr).toContain('--pets is for a store in memory: use petstore pets import instead')
})

test('petstore serve --read-only responds to a create with 503 and Retry-After', async () => {
  const server = await startPetstore('--read-only')
  onTestFinished(() => void server.child.kill())
  const headers = { ...server.bearer('pro').headers, 'content-type': 'application/json' }
  const created = await fetch(`${server.address}/pets`, { method: 'POST', headers, body: JSON.stringify(REX) })
  expect([created.status, created.headers.has('retry-after')]).toEqual([503, true])
  expect((await fetch(`${server.address}/pets`, server.bearer('pro'))).status).toBe(200)
})
