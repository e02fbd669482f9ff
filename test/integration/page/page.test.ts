import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { axeFindings, chromiumPath, launchChromium, openPage } from '../../support/chromium.ts'
import { missing } from '../../support/skips.ts'
import { SECRET, startSite } from './site.ts'

const isMissing = missing('Chromium', chromiumPath !== undefined)
const LOOKS = [
  [1280, 'light'],
  [1280, 'dark'],
  [390, 'light'],
  [390, 'dark'],
] as const

let browser: Browser
beforeAll(async () => {
  if (!isMissing) browser = await launchChromium()
})
afterAll(() => browser?.close())

async function open(url: string, width = 1280, colorScheme: 'light' | 'dark' = 'light') {
  const opened = await openPage(browser, `${url}#${SECRET}`, width, colorScheme)
  onTestFinished(() => opened.page.context().close())
  return opened
}

/** Waits for a row of the table. `text` is the text of its cells, joined by spaces. */
function row(page: Page, text: string): Promise<void> {
  return page.getByRole('row', { name: text, exact: true }).waitFor()
}

function names(page: Page): Promise<string[]> {
  return page.locator('#rows td:nth-child(2)').allTextContents()
}

function button(page: Page, name: string) {
  return page.getByRole('button', { name, exact: true })
}

/** Returns whether the page is wider than the screen. */
function isTooWide(page: Page): Promise<boolean> {
  return page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth)
}

describe.skipIf(isMissing)('the live view', () => {
  test.each(LOOKS)('a visitor can filter, add and reach a ban (%i px, %s)', async (width, colorScheme) => {
    const { url } = await startSite()
    const { page, faults } = await open(url, width, colorScheme)
    await row(page, '1 Rex 1 available')
    const findings = await axeFindings(page)

    await page.getByText('Sold', { exact: true }).first().click()
    await row(page, '8 Pepper 8 sold')
    expect(await names(page)).toEqual(['Nibbles', 'Pepper'])
    await page.getByText('All', { exact: true }).click()

    await page.getByLabel('Name', { exact: true }).fill('Tiger')
    await button(page, 'Add animal').click()
    await page.getByText('Tiger was added with the id 9. It is on another page.').waitFor()
    expect(await names(page)).toHaveLength(5)
    await button(page, 'Next').click()
    await row(page, '9 Tiger New 1 available')

    await button(page, 'Send requests until the limit').click()
    await page.getByText('The limit is reached').waitFor()
    await page.getByRole('meter', { name: 'Requests this minute' }).getByText('of 60 left').waitFor()
    expect(await page.getByRole('meter', { name: 'Requests this minute' }).getAttribute('aria-valuenow')).toBe('0')
    expect(await page.getByRole('meter', { name: 'Requests today' }).getAttribute('aria-valuenow')).toBe('940')
    findings.push(...(await axeFindings(page)))

    const response = page.getByRole('region', { name: 'Last response' })
    await response.getByText('429 Too Many Requests').waitFor()
    await response.getByText('serves this key again after 60 seconds').waitFor()
    await response.getByText('"code": "rate_limit_exceeded"').waitFor()

    await button(page, 'Keep sending until the ban').click()
    await page.getByText('This key is banned').waitFor()
    await response.getByText('The ban ends after 300 seconds').waitFor()
    findings.push(...(await axeFindings(page)))

    expect({ findings, faults, isTooWide: await isTooWide(page) }).toEqual({
      findings: [],
      faults: [],
      isTooWide: false,
    })
  })

  test('shows the next and the previous page of animals', async () => {
    const { page } = await open((await startSite()).url)
    await row(page, '1 Rex 1 available')
    expect(await button(page, 'Previous').isDisabled()).toBe(true)
    await button(page, 'Next').click()
    await row(page, '8 Pepper 8 sold')
    expect(await names(page)).toEqual(['Shelly', 'Ziggy', 'Pepper'])
    expect(await button(page, 'Next').isDisabled()).toBe(true)
    await button(page, 'Previous').click()
    await row(page, '1 Rex 1 available')
    await page.getByLabel('Per page').selectOption('10')
    await row(page, '8 Pepper 8 sold')
  })

  test('shows all digits of an int64', async () => {
    const { page } = await open((await startSite()).url)
    await page.getByLabel('Name', { exact: true }).fill('Max')
    await page.getByLabel('Category id').fill('9223372036854775807')
    await button(page, 'Add animal').click()
    await button(page, 'Next').click()
    await row(page, '9 Max New 9223372036854775807 available')
  })

  test('keeps ids in one line on a narrow screen', async () => {
    const { storage, url } = await startSite()
    for (const name of ['Max', 'Ada', 'Bo', 'Cy', 'Di'])
      await storage.create({ name, categoryId: 9_223_372_036_854_775_807n, status: 'sold' })
    const { page } = await open(url, 390)
    await page.getByLabel('Per page').selectOption('20')
    await row(page, '13 Di 9223372036854775807 sold')
    const lines = page.locator('#rows td:first-child').evaluateAll((cells) =>
      cells.map((cell) => {
        const range = document.createRange()
        range.selectNodeContents(cell)
        return range.getClientRects().length
      }),
    )
    expect(await lines).toEqual(Array(13).fill(1))
    expect(await isTooWide(page)).toBe(false)
  })

  test('shows the response to createPet as the last response', async () => {
    const { page } = await open((await startSite()).url)
    await row(page, '1 Rex 1 available')
    await page.getByLabel('Name', { exact: true }).fill('Max')
    await button(page, 'Add animal').click()
    await page.getByText('Max was added with the id 9. It is on another page.').waitFor()
    const response = page.getByRole('region', { name: 'Last response' })
    await response.getByText('201 Created').waitFor()
    await response.getByText('/v1/pets/9').waitFor()
    await page.getByText('Sold', { exact: true }).first().click()
    await page.getByText('The filter hides it: choose All or available to see it.').waitFor()
    await response.getByText('200 OK').waitFor()
  })

  test('shows the error message of a rejected request', async () => {
    const { page } = await open((await startSite()).url)
    await page.getByLabel('Name', { exact: true }).fill('Max')
    await page.getByLabel('Category id').fill('9223372036854775808')
    await button(page, 'Add animal').click()
    await page.getByRole('status').getByText('categoryId').waitFor()
    await page.getByText('400 Bad Request').waitFor()
  })

  test('shows a name with HTML as text', async () => {
    const { storage, url } = await startSite()
    await storage.create({ name: '<img src=x onerror=alert(1)>', categoryId: 1n, status: 'pending' })
    const { page, faults } = await open(url)
    await page.getByText('Pending', { exact: true }).first().click()
    await row(page, '9 <img src=x onerror=alert(1)> 1 pending')
    expect(faults).toEqual([])
  })

  test('the page says that there are no animals', async () => {
    const { page } = await open((await startSite()).url)
    await page.route('**/v1/pets?*', (route) => route.fulfill({ body: '[]' }))
    await page.getByText('Sold', { exact: true }).first().click()
    await page.getByText('There are no sold animals.').waitFor()
  })

  test('the page says that the server does not respond', async () => {
    const { close, url } = await startSite()
    const { page } = await open(url)
    await row(page, '1 Rex 1 available')
    await page.route('**/v1/pets?*', (route) => route.abort())
    await button(page, 'Refresh').click()
    await page.getByText('The server does not respond.').first().waitFor()
    expect(await names(page)).toHaveLength(5)
    await close()
  })

  test('without a demo key, asks for a key and keeps the key', async () => {
    const { token, url } = await startSite({ demoKeys: () => [] })
    const { page, faults } = await open(url)
    await page.getByText('Enter an API key above to see the animals.').first().waitFor()
    expect(await page.getByLabel('Demo key').isVisible()).toBe(false)
    const findings = await axeFindings(page)

    await page.getByLabel('API key', { exact: true }).fill('wrong')
    await button(page, 'Use key').click()
    await page.getByText('does not accept this API key').waitFor()
    await page.getByLabel('API key', { exact: true }).fill(token)
    await button(page, 'Use key').click()
    await row(page, '1 Rex 1 available')
    await page.reload()
    await row(page, '1 Rex 1 available')
    const kept = await page.evaluate(() => JSON.stringify([location.href, localStorage, document.cookie]))
    expect(kept).not.toContain(token)
    expect({ findings, faults }).toEqual({ findings: [], faults: [] })
  })

  test('a demo key needs the secret of the printed address', async () => {
    const { url } = await startSite()
    const { page } = await openPage(browser, url, 1280, 'light')
    onTestFinished(() => page.context().close())
    await page.getByText('Open the whole address that the server has printed').waitFor()
    expect(await page.getByLabel('Demo key').isVisible()).toBe(false)
    await page.evaluate((secret) => location.assign(`#${secret}`), SECRET)
    await row(page, '1 Rex 1 available')
    expect(page.url()).not.toContain(SECRET)
    await page.reload()
    await row(page, '1 Rex 1 available')
  })

  test('counts down to the end of each window', async () => {
    const { clock, url } = await startSite()
    clock.advance(15_000)
    const page = await browser.newPage()
    onTestFinished(() => page.close())
    // Only the first load of the limits gets a response. The server's clock stands still, so later ones would set the countdown back.
    let loads = 0
    await page.route('**/usage', (route) => (++loads === 1 ? route.continue() : route.abort()))
    await page.clock.install({ time: clock.now() })
    await page.goto(`${url}#${SECRET}`)
    await page.getByText('Resets in 0:').waitFor()
    await page.clock.pauseAt(clock.now() + 20_000)
    const left = async (meter: string) => {
      const text = await page.locator('.gauge', { hasText: meter }).locator('.gauge-reset').textContent()
      return text ?? ''
    }
    const seconds = async () => Number((await left('This minute')).replace('Resets in 0:', ''))
    const before = await seconds()
    expect(before).toBeGreaterThan(20)
    expect(await left('Today')).toBe('Resets in 11 h 59 min')
    await page.clock.runFor(5_000)
    expect(await seconds()).toBe(before - 5)
    await page.clock.runFor(60_000)
    expect(await left('This minute')).toBe('Just reset')
  })
})

describe.skipIf(isMissing)('the page after a 429', () => {
  test('after a 429, the page loads the animals at the reset', async () => {
    const { clock, storage, url } = await startSite()
    const page = await browser.newPage()
    onTestFinished(() => page.close())
    await page.clock.install({ time: clock.now() })
    await page.goto(`${url}#${SECRET}`)
    await button(page, 'Send requests until the limit').click()
    await page.getByText('The limit is reached').waitFor()
    await page.getByText('Sold', { exact: true }).first().click()
    await page.getByText('Retry after 60 seconds. The table shows the last page that was loaded.').first().waitFor()
    await storage.create({ name: 'Tiger', categoryId: 1n, status: 'sold' })
    clock.advance(60_000)
    await page.clock.runFor(60_000)
    await row(page, '9 Tiger 1 sold')
    expect(await page.getByText('The limit is reached').isVisible()).toBe(false)
    expect(await button(page, 'Send requests until the limit').isVisible()).toBe(true)
  })

  test('after a 429, the visitor can stop further requests', async () => {
    const { url, keyStore } = await startSite({ demoKeys: () => [] })
    const { token } = await keyStore.issue({ plan: 'big', limits: { perMinute: 1_000_000, perDay: 1_000_000 } })
    const { page } = await open(url)
    await page.getByRole('textbox', { name: 'API key' }).fill(token)
    await button(page, 'Use key').click()
    await button(page, 'Send requests until the limit').click()
    await button(page, 'Stop').click()
    await button(page, 'Send requests until the limit').waitFor()
    await page.getByText(/\d requests? sent, 0 refused/).waitFor()
  })
})

describe.skipIf(isMissing)('the API reference', () => {
  // Swagger UI is not ours, and axe takes seconds on it: each width and each colour scheme is tested once.
  test.each([LOOKS[0], LOOKS[3]])(
    'the console of the reference uses the demo key (%i px, %s)',
    async (width, colorScheme) => {
      const { url } = await startSite()
      const { page, faults } = await open(`${url}/reference`, width, colorScheme)
      await page.getByRole('heading', { name: 'Pet store', level: 1 }).waitFor()
      const findings = await axeFindings(page)

      const operation = page.locator('#operations-pets-listPets')
      await operation.getByRole('button', { name: 'List animals' }).click()
      await operation.getByRole('button', { name: 'Execute' }).click()
      await operation.getByText('"Rex"').first().waitFor()
      await operation.getByText('x-ratelimit-remaining: 59').waitFor()
      findings.push(...(await axeFindings(page)))

      const others = page.locator('#operations-pets-createPet, #operations-pets-getPet')
      for (const other of await others.all()) {
        await other.locator('.opblock-summary-control').click()
        await other.getByRole('button', { name: 'Execute' }).click()
      }
      await page.getByRole('button', { name: 'Schemas' }).click()
      await page.locator('#operations-pets-createPet').getByText('Response headers').waitFor()
      findings.push(...(await axeFindings(page)))

      await page.getByRole('button', { name: 'Authorize' }).click()
      await page.getByRole('heading', { name: 'Available authorizations' }).waitFor()
      findings.push(...(await axeFindings(page)))

      expect({ findings, faults, isTooWide: await isTooWide(page) }).toEqual({
        findings: [],
        faults: [],
        isTooWide: false,
      })
    },
    120_000,
  )

  test('the console shows and sends all digits of an int64', async () => {
    const { url } = await startSite()
    const { page } = await open(`${url}/reference`)
    const operation = page.locator('#operations-pets-createPet')
    await operation.locator('.opblock-summary-control').click()
    await operation.getByRole('textbox').fill('{"name":"Max","categoryId":9223372036854775807}')
    await operation.getByRole('button', { name: 'Execute' }).click()
    await operation.getByText('"categoryId": 9223372036854775807').waitFor()
  })

  test.each(LOOKS)('the reference names the missing package Swagger UI (%i px, %s)', async (width, colorScheme) => {
    const { url } = await startSite({ swaggerFolder: undefined })
    const { page, faults } = await open(`${url}/reference`, width, colorScheme)
    await page.getByText('npm install swagger-ui-dist').waitFor()
    expect({ findings: await axeFindings(page), faults, isTooWide: await isTooWide(page) }).toEqual({
      findings: [],
      faults: [],
      isTooWide: false,
    })
  })
})
