import { describe, expect, test } from 'vitest'
import { axeFindings } from '../../support/chromium.ts'
import { button, clickNewest, isMissing, left, names, newest, row, useChromium } from './browser.ts'
import { SECRET, startSite } from './site.ts'

const { open, openAt, openWithoutSecret } = useChromium()

describe.skipIf(isMissing)('the request log', () => {
  test('the log shows requests of other programs, with their key and limit', async () => {
    const { keyStore, url } = await startSite()
    const { token, key } = await keyStore.issue({ plan: 'pro', label: 'front desk' })
    const { page, faults } = await open(url)
    await row(page, '1 Rex 1 available')
    const headers = { authorization: `Bearer ${token}`, 'user-agent': 'curl/8.5.0' }
    await fetch(`${url}/v1/pets?limit=1&secret=${token}`, { headers })
    await newest(page).getByText('curl/8.5.0 · 300 → 299 of 300').waitFor()
    await clickNewest(page)
    await newest(page).getByText(`front desk, ${key.id}`).waitFor()
    await newest(page).getByText('Response headers').click()
    await newest(page).getByText('X-RateLimit-Remaining').waitFor()
    await newest(page).getByText('GET /v1/pets?limit=1&***').waitFor()
    expect(await page.content()).not.toContain(token)
    expect({ findings: await axeFindings(page), faults }).toEqual({ findings: [], faults: [] })
  })

  test('while an entry is open, newer requests wait behind a button', async () => {
    const { keyStore, url } = await startSite()
    const { token } = await keyStore.issue({ plan: 'pro' })
    const { page } = await open(url)
    await row(page, '1 Rex 1 available')
    await clickNewest(page)
    const headers = { authorization: `Bearer ${token}` }
    for (let i = 0; i < 99; i++) await fetch(`${url}/v1/pets?limit=1`, { headers })
    await button(page, 'Show 99 newer requests').waitFor()
    expect(await page.locator('#log > li').count()).toBe(1)
    await button(page, 'Show 99 newer requests').click()
    expect(await page.locator('#log > li').count()).toBe(100)
    await page.locator('#log > li').last().locator('summary').first().click()
    await page.locator('#log').evaluate((log) => log.scrollTo(0, 0))
    await fetch(`${url}/v1/pets?limit=3`, { headers })
    await newest(page).getByText('limit=3').waitFor()
    expect(await page.locator('#log > li').count()).toBe(100)
  })

  test('a visitor can filter and clear the log', async () => {
    const { url } = await startSite()
    const { page } = await open(url)
    await row(page, '1 Rex 1 available')
    await fetch(`${url}/v1/pets`)
    await newest(page).getByText('401 Unauthorized').waitFor()
    await page.locator('#log-status').selectOption('5xx')
    await page.getByText('No request fits the filter.').waitFor()
    await page.locator('#log-status').selectOption('4xx')
    expect(await page.locator('#log > li:visible').count()).toBe(1)
    await page.locator('#log-status').selectOption('all')
    await page.getByLabel('Only with this text').fill('unauthorized')
    expect(await page.locator('#log > li:visible').count()).toBe(1)
    await page.getByLabel('Only with this text').fill('')
    await button(page, 'Clear').click()
    await page.getByText('The next request of any program appears here.').waitFor()
  })

  test('after a reset of the store, the page forgets its animals and the 429', async () => {
    let resets = 0
    const { url, storage } = await startSite({ resets: () => resets }, { perMinute: 2 })
    const { page } = await open(url)
    await row(page, '1 Rex 1 available')
    await button(page, 'Send requests until the limit').click()
    await page.getByText('The limit is reached').waitFor()
    await storage.create({ name: 'Ghost', categoryId: 1n, status: 'sold' })
    resets++
    await expect.poll(() => page.getByText('The limit is reached').isVisible()).toBe(false)
  })

  test('after a broken connection, the page loads the animals again by itself', async () => {
    const { page } = await openWithoutSecret('data:text/html,')
    const { url } = await startSite()
    let failures = 1
    await page.route('**/v1/pets?*', (route) => (failures-- > 0 ? route.abort() : route.continue()))
    await page.goto(`${url}#${SECRET}`)
    await page.getByText('The server does not respond. The animals appear when it responds again.').first().waitFor()
    await row(page, '1 Rex 1 available')
  })

  test('without the secret, the page shows only its own requests', async () => {
    const { token, url } = await startSite()
    const { page } = await openWithoutSecret(url)
    await page.getByLabel('API key', { exact: true }).fill(token)
    await button(page, 'Use key').click()
    await (await clickNewest(page)).getByText('returned 8 animals').waitFor()
    await page.locator('#gauges > div', { hasText: 'Today' }).getByText('not known yet').waitFor()
  })
})

describe.skipIf(isMissing)('the connection', () => {
  test('the page shows that the server does not respond, and connects again', async () => {
    const { close, port, url, token } = await startSite({ demoKeys: () => [] })
    const { page } = await open(url)
    await page.getByLabel('API key', { exact: true }).fill(token)
    await button(page, 'Use key').click()
    await row(page, '1 Rex 1 available')
    await close()
    await page.getByText('Reconnecting: the server does not respond.').waitFor()
    await page.locator('#gauges > div', { hasText: 'This minute' }).getByText('not known yet').waitFor()
    await button(page, 'Refresh').click()
    await page.getByText('The server does not respond. The animals appear when it responds again.').first().waitFor()
    expect(await names(page)).toHaveLength(8)

    await startSite({ demoKeys: () => [] }, { port, token })
    await page.getByText('Connected').waitFor()
    await expect.poll(() => page.locator('#animals-note').textContent()).toBe('')
  })

  test('after a restart, the page drops its demo key and gives advice', async () => {
    const { close, port, url } = await startSite()
    const { page } = await open(url)
    await row(page, '1 Rex 1 available')
    await close()
    await page.getByText('Reconnecting').waitFor()
    await startSite({ secret: 'the-secret-of-next-run--' }, { port })
    await page.getByText('Open the new address that it has printed').waitFor()
    await page.getByText('Enter an API key above to see the animals.').first().waitFor()
    expect(await page.getByLabel('Demo key').isVisible()).toBe(false)
    await page.goto(`${url}#the-secret-of-next-run--`)
    await row(page, '1 Rex 1 available')
  })

  test('a new demo key of the same server replaces the old one', async () => {
    let token = 'old'
    const site = await startSite({ demoKeys: () => [{ id: 'key_1', plan: 'free', token }] })
    const { page } = await open(site.url)
    await page.getByText('The API key is not valid').first().waitFor()
    token = site.token
    await row(page, '1 Rex 1 available')
  })

  test('the page recovers after a failed request for its settings', async () => {
    const { url } = await startSite()
    const { page } = await openWithoutSecret('data:text/html,')
    let isFailing = true
    await page.route('**/page/settings.json*', (route) =>
      isFailing ? route.fulfill({ status: 500 }) : route.continue(),
    )
    await page.goto(`${url}#${SECRET}`)
    await page.getByText('Reconnecting').waitFor()
    await page.getByText('The server does not respond. This page tries again every second.').last().waitFor()
    isFailing = false
    await row(page, '1 Rex 1 available')
  })
})

describe.skipIf(isMissing)('the limits', () => {
  test('the limits count down to the end of each window', async () => {
    const { clock, url } = await startSite()
    clock.advance(15_000)
    const page = await openAt('about:blank', clock.now())
    // Only the first load of the limits gets a response. Later loads would reset the countdown: the server's clock stands still.
    let loads = 0
    await page.route('**/usage', (route) => (++loads === 1 ? route.continue() : route.abort()))
    await page.goto(`${url}#${SECRET}`)
    await page.getByText('Resets in 0:').waitFor()
    await page.clock.pauseAt(clock.now() + 20_000)
    const rest = async (window: string) =>
      (await page.locator('#gauges > div', { hasText: window }).locator('p').last().textContent()) ?? ''
    const seconds = async () => Number((await rest('This minute')).replace('Resets in 0:', ''))
    const before = await seconds()
    expect(before).toBeGreaterThan(20)
    expect(await rest('Today')).toBe('Resets in 11 h 59 min')
    await page.clock.runFor(5_000)
    expect(await seconds()).toBe(before - 5)
    await page.clock.runFor(60_000)
    // The jump of the clock may abort a running poll. Then the gauge is empty until the page has connected again.
    const later = async () => {
      await page.clock.runFor(1_000)
      return rest('This minute')
    }
    await expect.poll(later).toBe('Just reset')
  })

  test('the limits show a banned key as banned, also in the next minute', async () => {
    const { clock, url, token } = await startSite()
    const headers = { authorization: `Bearer ${token}` }
    for (let i = 0; i < 120; i++) await fetch(`${url}/v1/pets?limit=1`, { headers })
    clock.advance(61_000)
    const { page } = await open(url)
    await page.getByText('Banned for 3:59').waitFor()
    expect(await left(page, 'Requests this minute')).toBe(0)
  })

  test('with a wrong key, the page explains the limit of the IP address', async () => {
    const { url } = await startSite({ demoKeys: () => [] })
    const { page } = await open(url)
    await page.getByLabel('API key', { exact: true }).fill('wrong')
    await button(page, 'Use key').click()
    await page.getByText('does not accept this key, so there are no limits to show').waitFor()
    for (let i = 0; i < 60; i++) await fetch(`${url}/v1/pets`)
    await button(page, 'Refresh').click()
    await page.getByText('The limit of your address is reached').waitFor()
    await newest(page).getByText('429 Too Many Requests').waitFor()
    await (await clickNewest(page)).getByText('Requests without a valid key are counted by address. Until').waitFor()
    expect(await button(page, 'Keep sending until the ban').getAttribute('aria-disabled')).toBe('true')
  })

  test('after a 429, the page loads the animals when the window ends', async () => {
    const { clock, storage, url } = await startSite()
    const page = await openAt(url, clock.now())
    await row(page, '1 Rex 1 available')
    await button(page, 'Send requests until the limit').click()
    await page.getByText('The limit is reached').waitFor()
    await page.locator('#filter').selectOption('sold')
    await page.getByText('The part "Rate limit" shows for how long. The table shows the last page').first().waitFor()
    await storage.create({ name: 'Tiger', categoryId: 1n, status: 'sold' })
    clock.advance(60_000)
    await page.clock.runFor(60_000)
    await row(page, '9 Tiger 1 sold')
    expect(await page.getByText('The limit is reached').isVisible()).toBe(false)
    expect(await button(page, 'Send requests until the limit').getAttribute('aria-disabled')).toBe('false')
  })

  test('a visitor can cause a ban with the keyboard, and keeps the focus', async () => {
    const { url } = await startSite()
    const { page } = await open(url)
    await row(page, '1 Rex 1 available')
    const focused = () => page.evaluate(() => document.activeElement?.id)
    await button(page, 'Send requests until the limit').focus()
    await page.keyboard.press('Enter')
    await page.getByText('The limit is reached').waitFor()
    expect(await focused()).toBe('burst')
    await page.keyboard.press('Tab')
    expect(await focused()).toBe('keep-sending')
    await page.keyboard.press('Enter')
    await page.getByText('This key is banned').waitFor()
    expect(await focused()).toBe('keep-sending')
  })

  test('the button Stop ends "Send requests until the limit"', async () => {
    const { url, keyStore } = await startSite({ demoKeys: () => [] })
    const { token } = await keyStore.issue({ plan: 'big', limits: { perMinute: 1_000_000, perDay: 1_000_000 } })
    const { page } = await open(url)
    await page.getByRole('textbox', { name: 'API key' }).fill(token)
    await button(page, 'Use key').click()
    await button(page, 'Send requests until the limit').click()
    await button(page, 'Stop').click()
    await page.getByText(/\d requests? sent, 0 refused/).waitFor()
    await expect.poll(() => button(page, 'Stop').getAttribute('aria-disabled')).toBe('true')
  })
})
