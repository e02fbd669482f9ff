import { join } from 'node:path'
import { expect, test, vi } from 'vitest'

type Handler = (request: Request, context: unknown) => Promise<Response>

const file = join(import.meta.dirname, '../../../examples/next/app/v1/[[...path]]/route.ts')
const route: Readonly<Record<'GET' | 'POST' | 'OPTIONS', Handler>> = await import(file)

vi.stubEnv('PETSTORE_KEY', 'a-key')

/** Next.js passes the parameters of the route as a second argument. */
const context = { params: Promise.resolve({ path: ['pets'] }) }

test('the route file of Next.js serves the API, and ignores the parameters of the route', async () => {
  const headers = { authorization: 'Bearer a-key', 'content-type': 'application/json' }
  const respond = (method: 'GET' | 'POST' | 'OPTIONS', init: RequestInit = {}) =>
    route[method](new Request('http://localhost/v1/pets', { method, headers, ...init }), context)
  const added = await respond('POST', { body: '{"name":"Rex","categoryId":9007199254740993}' })
  expect([added.status, await added.text()]).toEqual([201, expect.stringContaining('9007199254740993')])
  expect((await respond('GET')).status).toBe(200)
  expect((await respond('GET', { headers: {} })).status).toBe(401)
  expect((await respond('OPTIONS')).headers.get('allow')).toBe('GET, HEAD, POST, OPTIONS')
})
