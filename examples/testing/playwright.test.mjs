// CHROMIUM=/usr/bin/chromium node --test examples/testing/playwright.test.mjs
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createTestPetStore } from 'petstore-kit/testing'
import { chromium } from 'playwright-core'

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  // Chromium cannot use its sandbox if it runs as root, as in many containers.
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
})
after(() => browser.close())

const PAGE = `<ul></ul><script type="module">
  const response = await fetch('/v1/pets', { headers: { authorization: 'Bearer test-key' } })
  for (const { name } of await response.json()) {
    const item = document.createElement('li')
    item.textContent = name
    document.querySelector('ul').append(item)
  }
</script>`

test('a page shows the animals of the store', async () => {
  const { petStore, faults } = await createTestPetStore({ token: 'test-key', pets: [{ name: 'Rex' }, { name: 'Ada' }] })
  const page = await browser.newPage()
  await page.route('https://shop.example/', (route) => route.fulfill({ contentType: 'text/html', body: PAGE }))
  await page.route('https://shop.example/v1/**', async (route) => {
    const request = route.request()
    const init = { method: request.method(), headers: await request.allHeaders(), body: request.postDataBuffer() }
    // `fetch` of the store rejects if a fault breaks the connection. `abort` is a network error for the page.
    const response = await petStore.fetch(request.url(), init).catch(() => undefined)
    if (response === undefined) return route.abort('connectionreset')
    await route.fulfill({
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: await response.text(),
    })
  })

  await page.goto('https://shop.example/')
  await page.locator('li').nth(1).waitFor()
  assert.deepEqual(await page.locator('li').allTextContents(), ['Rex', 'Ada'])

  faults.connection.breakConnections()
  const outcome = await page.evaluate(() => fetch('/v1/pets').catch(({ name }) => name))
  assert.equal(outcome, 'TypeError')
})
