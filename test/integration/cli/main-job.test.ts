import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { startPetstore } from '../../support/serve-command.ts'
import { findProgram } from '../../support/server-process.ts'
import { missing } from '../../support/skips.ts'

const COUNT = 1_000

interface Pet {
  readonly id: number
  readonly name: string
}

test('petstore serve lists a thousand created animals, each once and in order', async () => {
  const { address, bearer } = await startPetstore('--seed', '0')
  const { headers } = bearer('enterprise')
  const added: Pet[] = []
  for (let i = 0; i < COUNT; i++) {
    const body = JSON.stringify({ name: `Animal ${i}`, categoryId: i })
    const init = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body }
    const response = await fetch(`${address}/pets`, init)
    expect(response.status).toBe(201)
    added.push((await response.json()) as Pet)
  }
  const paged: Pet[] = []
  for (let next: string | undefined = `${address}/pets?limit=100`; next !== undefined; ) {
    const response: Response = await fetch(next, { headers })
    paged.push(...((await response.json()) as Pet[]))
    const link = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1]
    next = link === undefined ? undefined : new URL(link, address).href
  }
  expect(paged).toEqual(added)
  // The command uses the real clock, so getPet responds with 410 if this test runs after 5 December 2030.
  const isOver = Date.now() >= Date.UTC(2030, 11, 5)
  for (const pet of paged) {
    const found = await (await fetch(`${address}/pets/${pet.id}`, { headers })).json()
    expect(isOver ? found.code : found).toEqual(isOver ? 'operation_removed' : pet)
  }
  expect(paged.map(({ id }) => id)).toEqual(Array.from({ length: COUNT }, (_, i) => i + 1))
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
