import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'

type Handler = (event: object) => Promise<{ statusCode: number; headers: Record<string, string>; body: string }>

/** Imports a copy of the example inside this package. Its own folder is another package, which does not find `petstore-kit`. */
async function importHandler(): Promise<Handler> {
  const root = join(import.meta.dirname, '../../..')
  const folder = await mkdtemp(join(root, '.cache-lambda-'))
  await copyFile(join(root, 'examples/apps/lambda/handler.ts'), join(folder, 'handler.ts'))
  try {
    return (await import(join(folder, 'handler.ts'))).handler
  } finally {
    await rm(folder, { recursive: true })
  }
}

const handler = await importHandler()
vi.stubEnv('PETSTORE_KEY', 'a-key')

/** Returns an event such as the function URL of a Lambda function sends. */
function eventOf(method: string, more: object = {}) {
  const requestContext = { domainName: 'pets.example', http: { method, sourceIp: '203.0.113.7' } }
  const headers = { authorization: 'Bearer a-key', 'content-type': 'application/json' }
  return { requestContext, rawPath: '/v1/pets', rawQueryString: 'limit=2', headers, isBase64Encoded: false, ...more }
}

test('the Lambda app ignores the body of GET and HEAD', async () => {
  for (const method of ['GET', 'HEAD'])
    expect((await handler(eventOf(method, { body: 'ignored' }))).statusCode).toBe(200)
})

test('the Lambda app reads a body that is sent as text or in Base64', async () => {
  const body = '{"name":"Rex","categoryId":9007199254740993}'
  const encoded = { body: Buffer.from(body).toString('base64'), isBase64Encoded: true }
  for (const sent of [{ body }, encoded])
    expect(await handler(eventOf('POST', sent))).toMatchObject({
      statusCode: 201,
      body: expect.stringContaining('9007199254740993'),
    })
})

test('the Lambda app counts requests by the address that AWS passes', async () => {
  const anonymous = () => handler(eventOf('GET', { headers: { 'x-forwarded-for': '198.51.100.1' } }))
  expect((await anonymous()).headers['x-ratelimit-remaining']).toBe('59')
  expect((await anonymous()).headers['x-ratelimit-remaining']).toBe('58')
})

test.each([
  ['a REST API', { httpMethod: 'GET', path: '/v1/pets', requestContext: { stage: 'prod' } }],
  ['a load balancer', { httpMethod: 'GET', path: '/v1/pets', requestContext: { elb: {} } }],
])('the Lambda app rejects an event that comes from %s', async (_, event) => {
  await expect(handler(event)).rejects.toThrow('expected an event of a function URL, or of an HTTP API')
})
