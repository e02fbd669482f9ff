import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import express from 'express'
import { expect, onTestFinished, test } from 'vitest'
import { toBunHandler } from '../../../adapters/hosts/bun.ts'
import { toDenoHandler } from '../../../adapters/hosts/deno.ts'
import { toExpressHandler } from '../../../adapters/hosts/express.ts'
import { toNodeHandler } from '../../../adapters/hosts/node/index.ts'
import { createTestPetStore } from '../../../src/testing/index.ts'

const anonymous = { perMinute: 1, perDay: 1 }

function statusOf(socketPath: string, forwardedFor?: string): Promise<number | undefined> {
  const headers = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor }
  return new Promise((resolve, reject) => {
    request({ socketPath, path: '/v1/pets', headers, agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode))
    })
      .on('error', reject)
      .end()
  })
}

test('counts anonymous clients on a Unix socket only behind a trusted proxy', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-kit-'))
  // The path of a Unix socket may have at most about 100 characters, so use paths relative to the temporary folder.
  const before = process.cwd()
  process.chdir(folder)
  onTestFinished(() => {
    process.chdir(before)
    return rm(folder, { recursive: true })
  })
  const petStore = await createTestPetStore({ anonymous })
  const listeners = {
    node: toNodeHandler(petStore),
    express: express().use(toExpressHandler(petStore)),
    trusting: toNodeHandler(petStore, { trustProxy: 1 }),
  }
  for (const [name, listener] of Object.entries(listeners)) {
    const server = createServer(listener)
    onTestFinished(() => void server.close())
    await new Promise<void>((resolve) => server.listen(name, resolve))
  }
  for (const name of ['node', 'express']) for (let i = 0; i < 3; i++) expect(await statusOf(name, '1.1.1.1')).toBe(401)
  expect(await statusOf('trusting', '9.9.9.9, 1.1.1.1')).toBe(401)
  expect(await statusOf('trusting', '8.8.8.8, 1.1.1.1')).toBe(429)
  expect(await statusOf('trusting', '2.2.2.2')).toBe(401)
})

test('Bun and Deno count the client address that a trusted proxy forwards', async () => {
  const petStore = await createTestPetStore({ anonymous })
  const onBun = toBunHandler(petStore, { trustProxy: 1 })
  const onDeno = toDenoHandler(petStore, { trustProxy: 1 })
  const ask = (address: string) => new Request('http://localhost/v1/pets', { headers: { 'x-forwarded-for': address } })
  const server = { requestIP: () => ({ address: '192.0.2.1' }) }
  const info = { remoteAddr: { hostname: '192.0.2.1' } }
  expect((await onBun(ask('1.1.1.1'), server)).status).toBe(401)
  expect((await onDeno(ask('2.2.2.2'), info)).status).toBe(401)
  expect((await onDeno(ask('1.1.1.1'), info)).status).toBe(429)
  expect((await onBun(ask('2.2.2.2'), server)).status).toBe(429)
})

test('Bun and Deno do not limit anonymous clients without an address', async () => {
  const petStore = await createTestPetStore({ anonymous })
  const onBun = toBunHandler(petStore)
  const onDeno = toDenoHandler(petStore)
  const ask = () => new Request('http://localhost/v1/pets')
  for (let i = 0; i < 3; i++) {
    expect((await onBun(ask(), { requestIP: () => null })).status).toBe(401)
    expect((await onDeno(ask(), { remoteAddr: { transport: 'unix', path: '/run/shop' } as object })).status).toBe(401)
  }
  const server = { requestIP: () => ({ address: '::ffff:192.0.2.1' }) }
  expect((await onBun(ask(), server)).status).toBe(401)
  expect((await onDeno(ask(), { remoteAddr: { hostname: '192.0.2.1' } })).status).toBe(429)
})
