import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { documentRoute } from '../../../adapters/cli/openapi/openapi.ts'
import { installedViewer, referenceRoutes } from '../../../adapters/cli/openapi/reference.ts'
import { serve } from '../../../adapters/hosts/node/index.ts'
import { withSite } from '../../../adapters/hosts/node/site.ts'
import { referenceHtml } from '../../../src/openapi/index.ts'
import { createTestPetStore } from '../../../src/testing/index.ts'
import { button, isMissing, row, useChromium } from './browser.ts'
import { SECRET, startSite } from './site.ts'

const chromium = useChromium()

/** The id in the example of `petId` is 7. */
const ANIMALS = ['Rex', 'Misty', 'Bubbles', 'Nibbles', 'Kiwi', 'Shelly', 'Ziggy', 'Pepper']
const SHOWN = 'List animals'

/** Fills in a key, and sends each operation from the viewer, each twice. */
async function sendEach(page: Page, token: string): Promise<void> {
  await page.locator('input[placeholder=Token]:visible').first().fill(token)
  for (const [index, path] of ['/v1/pets', '/v1/pets', '/v1/pets/7'].entries()) {
    await page.getByRole('button', { name: 'Test Request' }).nth(index).click()
    for (let i = 0; i < 2; i++) {
      const responded = page.waitForResponse((response) => new URL(response.url()).pathname === path)
      await page
        .locator('button:visible', { hasText: /^\s*Send/ })
        .first()
        .click()
      await (await responded).finished()
      // A click while Scalar still reads the response before makes it wait for ever.
      await page.getByText('Cancel', { exact: true }).waitFor({ state: 'hidden' })
    }
    await page.keyboard.press('Escape')
  }
}

describe.skipIf(isMissing)('the reference of petstore serve', () => {
  test('each operation is sent as the document shows it, with success', async () => {
    const { petStore, token, requests } = await createTestPetStore({ pets: ANIMALS.map((name) => ({ name })) })
    const site = withSite(petStore, {
      '/openapi.json': documentRoute(petStore),
      ...referenceRoutes(petStore, installedViewer()),
    })
    const server = await serve(site, { port: 0 })
    onTestFinished(server.close)
    const { page, faults } = await chromium.openWithoutSecret(`${server.url}/reference`)
    await sendEach(page, token)
    expect(requests.map(({ method, path, response }) => `${method} ${path} ${response?.status}`)).toEqual([
      ...Array(2).fill('GET /v1/pets 200'),
      ...Array(2).fill('POST /v1/pets 201'),
      ...Array(2).fill('GET /v1/pets/7 200'),
    ])
    // The viewer tries whether it may compile code, and works without.
    expect(faults.filter((fault) => fault !== 'script-src has blocked eval')).toEqual([])
  })

  test('a script in the reference finds neither the secret nor a key of the live page', async () => {
    const { url, token } = await startSite()
    const { page } = await chromium.open(url)
    await row(page, '1 Rex 1 available')
    await page.getByLabel('API key', { exact: true }).fill(token)
    await button(page, 'Use key').click()
    await page.getByRole('link', { name: 'API reference' }).click()
    await page.getByText(SHOWN).first().waitFor()
    const found = await page.evaluate(async () => {
      const paths = ['/', '/page/settings.json', '/usage']
      const texts = await Promise.all(paths.map(async (path) => (await fetch(path)).text()))
      const stores = [sessionStorage, localStorage, history.state].map((store) => JSON.stringify(store))
      return [location.href, document.referrer, document.cookie, name, ...stores, ...texts].join('\n')
    })
    expect(found).toContain('"hasSecret":false')
    expect(found).not.toContain(SECRET)
    expect(found).not.toContain(token)
  })

  test('a window that the reference has opened cannot read the live page after Back', async () => {
    const { url } = await startSite()
    const { page } = await chromium.open(url)
    await row(page, '1 Rex 1 available')
    await page.goto(`${url}/reference`)
    const opening = page.context().waitForEvent('page')
    await page.evaluate(() => void open('/reference'))
    const popup = await opening
    await popup.getByText(SHOWN).first().waitFor()
    expect(await popup.evaluate(() => opener?.location.pathname)).toBe('/reference')
    await page.goBack()
    await row(page, '1 Rex 1 available')
    expect(await page.getByLabel('Demo key').isVisible()).toBe(true)
    expect(await popup.evaluate(() => opener)).toBe(null)
  })

  test('the reference starts no worker and no frame', async () => {
    const { url } = await startSite()
    const { page, faults } = await chromium.openWithoutSecret(`${url}/reference`)
    await page.getByText(SHOWN).first().waitFor()
    const worker = await page.evaluate(() =>
      navigator.serviceWorker.register('/reference/scalar.js').catch((error) => String(error)),
    )
    expect(worker).toContain('Content Security Policy')
    await page.evaluate(() => {
      const frame = document.createElement('iframe')
      frame.src = '/'
      document.body.append(frame)
    })
    await expect.poll(() => faults.join('\n')).toContain('frame-src has blocked')
  })
})

describe.skipIf(isMissing)('the reference from the CDN', () => {
  const file = readFileSync(
    createRequire(import.meta.url).resolve('@scalar/api-reference/browser/standalone.js'),
    'utf8',
  )

  /** Opens the reference of a public host. `script` is what the CDN responds with; `undefined` if there is no network. */
  async function openFrom(script: string | undefined) {
    const { petStore, token, requests } = await createTestPetStore({ pets: ANIMALS.map((name) => ({ name })) })
    const server = await serve(petStore, { port: 0 })
    onTestFinished(server.close)
    const { page } = await chromium.openWithoutSecret('data:text/html,')
    const others: string[] = []
    await page.route(/^https:/, async (route) => {
      const { host, pathname } = new URL(route.request().url())
      const headers = { 'access-control-allow-origin': '*' }
      if (host === 'cdn.jsdelivr.net')
        return script === undefined
          ? route.abort()
          : route.fulfill({ body: script, contentType: 'text/javascript', headers })
      if (host !== 'shop.example') others.push(host)
      if (pathname === '/docs') return route.fulfill({ body: referenceHtml(petStore), contentType: 'text/html' })
      const response = await route.fetch({ url: server.url + pathname })
      return route.fulfill({ response })
    })
    await page.goto('https://shop.example/docs')
    return { page, token, requests, others }
  }

  test('the published file shows the reference, and sends requests to the API only', async () => {
    const { page, token, requests, others } = await openFrom(file)
    await sendEach(page, token)
    expect(requests.map(({ response }) => response?.status)).toEqual([200, 200, 201, 201, 200, 200])
    expect(others).toEqual([])
    expect(await page.locator('body > p').isVisible()).toBe(false)
  })

  test.each([
    ['another file does not run', `document.title = 'wrong'\n${file}`],
    ['without a network, nothing runs', undefined],
  ])('%s, and the page says what is missing', async (_, script) => {
    const { page } = await openFrom(script)
    await page.getByText('npm install @scalar/api-reference@').waitFor()
    expect(await page.title()).toBe('Pet store API')
  })
})
