import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const NODE_ENTRY = join(import.meta.dirname, '../../dist/node.js')
const CORE_ENTRY = join(import.meta.dirname, '../../dist/index.js')

/** A program for a separate process. In it, constructing one of these globals throws. */
const script = `
import { request } from 'node:http'
const { serve } = await import(process.argv[1])
const { createPetStore, memory } = await import(process.argv[2])
const names = ['Request', 'Response', 'Headers', 'ReadableStream', 'WritableStream', 'TransformStream', 'fetch', 'FormData', 'Blob']
const traps = names.map((name) => class { constructor() { throw new Error(name + ' was built') } })
names.forEach((name, i) => Object.defineProperty(globalThis, name, { value: traps[i], configurable: true, writable: true }))
const before = Object.entries(Object.getOwnPropertyDescriptors(globalThis)).filter(([, field]) => 'value' in field)
const backEnd = memory()
const { token } = await backEnd.keyStore.issue({ plan: 'free' })
const server = await serve(createPetStore({ ...backEnd, cors: true, bodyLimit: 1000, sunset: 'announce' }), { port: 0 })
const ask = (method, path, body) => new Promise((resolve, reject) => {
  const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' }
  request(server.url + path, { method, headers }, (response) => {
    response.resume().on('end', () => resolve(response.statusCode))
  }).on('error', reject).end(body)
})
const statuses = [
  await ask('POST', '/v1/pets', '{"name":"Rex","categoryId":1}'), await ask('GET', '/v1/pets'), await ask('GET', '/v1/pets/1'),
  await ask('HEAD', '/v1/pets'), await ask('OPTIONS', '/v1/pets'), await ask('POST', '/v1/pets', 'x'.repeat(2000)),
  await ask('POST', '/v1/pets', '{'), await ask('GET', '/elsewhere'),
]
await server.close()
const patched = before.filter(([name, { value }]) => !Object.is(globalThis[name], value))
console.log(JSON.stringify({ statuses, patched: patched.map(([name]) => name) }))
`

test('the Node adapter constructs no web API object and patches no global', async () => {
  const args = ['--input-type=module', '-e', script, NODE_ENTRY, CORE_ENTRY]
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args)
  expect(stderr).toBe('')
  expect(JSON.parse(stdout)).toEqual({ statuses: [201, 200, 200, 200, 204, 413, 400, 404], patched: [] })
})
