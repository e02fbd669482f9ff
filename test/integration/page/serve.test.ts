import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startPetstore } from '../../support/petstore-command.ts'

/** Returns the header that the page sends, with the secret from the address that the server has printed. */
function secretOf({ output }: { output(): string }): Record<string, string> {
  return { 'petstore-secret': /^Open \S+#(\S+) in a browser/m.exec(output())?.[1] ?? '' }
}

/** Returns the keys that `petstore serve` gives to its page. */
async function demoKeys(server: { address: string; output(): string }): Promise<unknown> {
  const settings = await fetch(new URL('/page/settings.json', server.address), { headers: secretOf(server) })
  const { demoKeys } = (await settings.json()) as { demoKeys: { plan: string; token: string }[] }
  return demoKeys.map(({ plan, token }) => ({ plan, token }))
}

test('petstore serve gives demo keys to the page of an in-memory store', async () => {
  const { keys, ...server } = await startPetstore()
  expect(await demoKeys(server)).toEqual(Object.entries(keys).map(([plan, token]) => ({ plan, token })))
})

test('petstore serve --data gives no key to its page', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-page-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  expect(await demoKeys(await startPetstore('--data', join(folder, 'pets.db')))).toEqual([])
})

test('petstore serve --host 0.0.0.0 gives no key to its page', async () => {
  expect(await demoKeys(await startPetstore('--host', '0.0.0.0'))).toEqual([])
})

test.each([
  ['--public-url', 'https://shop.example'],
  ['--trust-proxy', '1'],
])('petstore serve gives no key to the page behind a proxy (%s)', async (...flags) => {
  expect(await demoKeys(await startPetstore(...flags))).toEqual([])
})

test('behind a proxy that replaces Host, the page gets no demo key', async () => {
  const { address, bearer } = await startPetstore()
  await fetch(`${address}/pets`, bearer('free'))
  const proxy = createServer(async ({ url = '', headers }, response) => {
    const passedOn = await fetch(new URL(url, address), { headers: { authorization: String(headers.authorization) } })
    response.writeHead(passedOn.status).end(await passedOn.text())
  })
  onTestFinished(() => void proxy.close())
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  const server = { address: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, output: () => '' }
  expect(await demoKeys(server)).toEqual([])
  expect((await fetch(`${server.address}/usage`, bearer('free'))).status).toBe(404)
})

test('petstore serve shows both windows of a key at /usage', async () => {
  const { bearer, ...server } = await startPetstore()
  const { address } = server
  const headers = { ...bearer('free').headers, ...secretOf(server) }
  const usage = async () => (await fetch(new URL('/usage', address), { headers })).json()
  expect(await usage()).toMatchObject({ plan: 'free', minute: { used: 0 } })
  await fetch(`${address}/pets`, bearer('free'))
  expect(await usage()).toMatchObject({ plan: 'free', minute: { limit: 60, used: 1 }, day: { limit: 1_000, used: 1 } })
})
