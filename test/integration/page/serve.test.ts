import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startPetstore } from '../../support/serve-command.ts'

/** Returns the keys that `petstore serve` gives to its page. */
async function demoKeys(address: string): Promise<unknown> {
  const settings = await fetch(new URL('/page/settings.json', address))
  return ((await settings.json()) as { demoKeys: unknown }).demoKeys
}

test('petstore serve gives demo keys to the page of an in-memory store', async () => {
  const { address, keys } = await startPetstore()
  expect(await demoKeys(address)).toEqual(Object.entries(keys).map(([plan, token]) => ({ plan, token })))
})

test('petstore serve --data gives no key to its page', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-page-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const { address } = await startPetstore('--data', join(folder, 'pets.db'))
  expect(await demoKeys(address)).toEqual([])
})

test('petstore serve --host 0.0.0.0 gives no key to its page', async () => {
  const { address } = await startPetstore('--host', '0.0.0.0')
  expect(await demoKeys(address)).toEqual([])
})

test.each([
  ['--public-url', 'https://shop.example'],
  ['--trust-proxy', '1'],
])('petstore serve gives no key to the page behind a proxy (%s)', async (...flags) => {
  const { address } = await startPetstore(...flags)
  expect(await demoKeys(address)).toEqual([])
})

test('petstore serve prints the address of the page', async () => {
  const { address, output } = await startPetstore()
  expect(output()).toContain(`Open ${new URL('/', address)} in a browser to try it.`)
})

test('petstore serve shows both windows of a key at /usage', async () => {
  const { address, bearer } = await startPetstore()
  const usage = async () => (await fetch(new URL('/usage', address), bearer('free'))).json()
  expect(await usage()).toBe(null)
  await fetch(`${address}/pets`, bearer('free'))
  expect(await usage()).toMatchObject({ plan: 'free', minute: { limit: 60, used: 1 }, day: { limit: 1_000, used: 1 } })
})
