import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { documentRoutes } from '../../../adapters/cli/openapi/openapi.ts'
import { serve } from '../../../adapters/hosts/node/index.ts'
import { type SiteRoutes, withSite } from '../../../adapters/hosts/node/serve.ts'
import { createTestPetStore } from '../../../src/testing/index.ts'
import { isMissing, useChromium } from './browser.ts'

const chromium = useChromium()
const modules = join(import.meta.dirname, '../../../node_modules')

/** The id in the example of `petId` is 7. */
const ANIMALS = ['Rex', 'Misty', 'Bubbles', 'Nibbles', 'Kiwi', 'Shelly', 'Ziggy', 'Pepper']

const text = (type: string, body: string) => () => ({ status: 200, headers: ['Content-Type', type], body })
const file = (type: string, path: string) => () => text(type, readFileSync(join(modules, path), 'utf8'))()
const html = (script: string, start: string) =>
  text(
    'text/html; charset=utf-8',
    `<!doctype html><div id="docs"></div><script src="${script}"></script><script>${start}</script>`,
  )

const viewers: SiteRoutes = {
  '/swagger-ui': html(
    '/swagger-ui-bundle.js',
    "SwaggerUIBundle({ url: '/openapi.json', dom_id: '#docs', validatorUrl: null })",
  ),
  '/swagger-ui-bundle.js': file('text/javascript; charset=utf-8', 'swagger-ui-dist/swagger-ui-bundle.js'),
  '/scalar': html(
    '/scalar.js',
    "Scalar.createApiReference('#docs', { url: '/openapi.json', withDefaultFonts: false, telemetry: false, agent: { disabled: true } })",
  ),
  '/scalar.js': file('text/javascript; charset=utf-8', '@scalar/api-reference/dist/browser/standalone.js'),
  '/favicon.ico': text('image/x-icon', ''),
}

/** Opens a viewer of the OpenAPI document. Returns its page, and the requests that arrive at the pet store. */
async function openViewer(path: string) {
  const { petStore, token, requests, storage } = await createTestPetStore({ pets: ANIMALS.map((name) => ({ name })) })
  const server = await serve(withSite(petStore, { ...documentRoutes({}), ...viewers }), { port: 0 })
  onTestFinished(server.close)
  const { page, faults } = await chromium.openWithoutSecret(server.url + path)
  return { page, faults, token, requests, storage }
}

const PATHS = ['/v1/pets', '/v1/pets', '/v1/pets/7']
/** Expects a whole list, a new animal for each create, and the animal 7, twice each. */
async function expectSuccess({ requests, storage, faults }: Awaited<ReturnType<typeof openViewer>>) {
  const statuses = requests.map(({ response }) => response?.status)
  expect(statuses).toEqual([200, 200, 201, 201, 200, 200])
  const lists = requests.slice(0, 2).map(({ response }) => JSON.parse(response?.body ?? '').length)
  expect(lists).toEqual([ANIMALS.length, ANIMALS.length])
  expect(await storage.list({ limit: 100 })).toHaveLength(ANIMALS.length + 2)
  expect(faults).toEqual([])
}

/** Clicks twice on the button that sends an operation, and waits until the viewer has shown each response. */
async function sendTwice(page: Page, send: Locator, path: string, hasShown = async () => {}) {
  for (let i = 0; i < 2; i++) {
    const responded = page.waitForResponse((response) => new URL(response.url()).pathname === path)
    await send.click()
    await (await responded).finished()
    await hasShown()
  }
}

test.skipIf(isMissing)('Swagger UI sends each operation twice, with success', async () => {
  const viewer = await openViewer('/swagger-ui')
  const { page, token } = viewer
  await page.locator('.btn.authorize').click()
  await page.locator('.auth-container input').fill(token)
  await page.locator('.auth-container').getByRole('button', { name: 'Apply credentials' }).click()
  await page.locator('.btn-done').click()
  for (const [index, path] of PATHS.entries()) {
    const operation = page.locator('.opblock').nth(index)
    await operation.locator('.opblock-summary-control').click()
    await operation.getByRole('button', { name: 'Try it out' }).click()
    await sendTwice(page, operation.getByRole('button', { name: 'Execute' }), path)
  }
  await expectSuccess(viewer)
})

test.skipIf(isMissing)('Scalar sends each operation twice, with success', async () => {
  const viewer = await openViewer('/scalar')
  const { page, token } = viewer
  await page.locator('input[placeholder=Token]:visible').first().fill(token)
  for (const [index, path] of PATHS.entries()) {
    await page.getByRole('button', { name: 'Test Request' }).nth(index).click()
    const send = page.locator('button:visible', { hasText: /^\s*Send/ }).first()
    // A click while Scalar still reads the response before makes it wait for ever.
    await sendTwice(page, send, path, () => page.getByText('Cancel', { exact: true }).waitFor({ state: 'hidden' }))
    await page.keyboard.press('Escape')
  }
  await expectSuccess(viewer)
})
