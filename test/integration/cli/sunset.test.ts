import { afterEach, describe, expect, test } from 'vitest'
import { type RunningServer, runCommand, startServer } from '../../support/petstore-command.ts'

let server: RunningServer | undefined
afterEach(() => server?.end('SIGKILL'))

/** Starts a test double with a key for seven requests a minute. Returns functions that call the API and set its clock. */
async function start(...args: string[]) {
  const flags = ['--control-port', '0', '--key', 'gold=letmein', '--plan-limits', 'gold=7/100', '--log', 'json']
  const running = await startServer(...flags, ...args)
  server = running
  const control = /http:\/\/[\d.]+:\d+\/[\w-]{10,}/.exec(running.output())?.[0]
  const send = (path: string, method = 'GET', token = 'letmein') =>
    fetch(running.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: method === 'POST' ? '{"name":"Rex","categoryId":1}' : null,
    })
  const setClock = async (set: string) => {
    const body = JSON.stringify({ set })
    expect((await fetch(`${control}/clock`, { method: 'POST', body })).status).toBe(200)
  }
  return { send, setClock, output: running.output }
}

/** Requests of the page `docs/removal-of-getpet.md`, with what it says about their statuses. */
const requests = [
  { method: 'GET', path: '/pets/1', before: 200, after: 410 },
  { method: 'HEAD', path: '/pets/1', before: 200, after: 410 },
  { method: 'GET', path: '/pets/999', before: 404, after: 410 },
  { method: 'GET', path: '/pets/x', before: 404, after: 410 },
  { method: 'GET', path: '/pets/1', token: 'wrong', before: 401, after: 401 },
  { method: 'PUT', path: '/pets/1', before: 405, after: 405 },
  { method: 'OPTIONS', path: '/pets/1', before: 204, after: 204 },
]

describe('the removal of getPet', () => {
  test.each([
    { args: [], policy: 'enforce' },
    { args: ['--sunset', 'enforce'], policy: 'enforce' },
    { args: ['--sunset', 'announce'], policy: 'announce' },
  ])('responses before and after the day with the flags $args', async ({ args, policy }) => {
    const { send, setClock } = await start(...args)
    const facts = async () => {
      const found: unknown[] = []
      for (const { method, path, token } of requests) {
        const { status, headers } = await send(path, method, token)
        const names = ['deprecation', 'sunset', 'link', 'allow']
        found.push([status, ...names.map((name) => headers.get(name))])
      }
      found.push((await send('/pets', 'POST')).headers.has('location'))
      return found
    }
    const expected = (statusOf: (request: (typeof requests)[number]) => number, hasLocation: boolean) => [
      ...requests.map((request) => [
        statusOf(request),
        ...(request.method === 'GET' || request.method === 'HEAD'
          ? ['@1764892800', 'Thu, 05 Dec 2030 00:00:00 GMT', '</v1/pets>; rel="successor-version"', null]
          : [null, null, null, 'GET, HEAD, OPTIONS']),
      ]),
      hasLocation,
    ]
    await setClock('2030-12-04T23:59:00Z')
    expect(await facts()).toEqual(expected(({ before }) => before, true))
    await setClock('2030-12-05T00:00:00Z')
    const isKept = policy === 'announce'
    expect(await facts()).toEqual(expected(({ before, after }) => (isKept ? before : after), isKept))
  })

  test('requests after the day are counted, and their log has the operation and the key', async () => {
    const { send, setClock, output } = await start()
    await setClock('2030-12-05T00:00:00Z')
    const seen: unknown[] = []
    for (let i = 0; i < 8; i++) {
      const { status, headers } = await send('/pets/1')
      seen.push([status, headers.get('x-ratelimit-remaining')])
    }
    expect(seen).toEqual([...[6, 5, 4, 3, 2, 1, 0].map((left) => [410, String(left)]), [429, '0']])
    const lines = output().split('\n')
    const logged = lines.filter((line) => line.includes('"status":410')).map((line) => JSON.parse(line))
    expect(logged).toHaveLength(7)
    expect(logged[0]).toMatchObject({ operation: 'getPet', keyId: expect.any(String) })
  })

  test('--sunset rejects other values', async () => {
    const { code, stderr } = await runCommand(['serve', '--sunset', 'never'])
    expect(code).not.toBe(0)
    expect(stderr).toContain('Expected enforce or announce.')
  })
})
