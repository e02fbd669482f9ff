import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { axeFindings } from '../../support/chromium.ts'
import { button, isMissing, names, newest, openNewest, row, useChromium } from './browser.ts'
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
    await newest(page).locator('summary').click()
    await newest(page).getByText(`front desk, ${key.id}`).waitFor()
    await newest(page).getByText('Response headers').click()
    await newest(page).getByText('X-RateLimit-Remaining').waitFor()
    await newest(page).getByText('GET /v1/pets?limit=1&***').waitFor()
    expect(await page.content()).not.toContain(token)
    expect({ findings: await axeFindings(page), faults }).toEqual({ findings: [], faults: [] })
  })

  test('a copied curl command repeats the request', async () => {
    const { token, url } = await startSite()
    const { page } = await open(url)
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await row(page, '1 Rex 1 available')
    await (await openNewest(page)).getByRole('button', { name: 'curl' }).click()
    await newest(page).getByText('Copied as curl, with the demo key.').waitFor()
    await newest(page).getByText(`Bearer ${token}`).waitFor()
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    const bash = spawn('bash')
    bash.stdin.end(copied)
    expect(await text(bash.stdout)).toContain('200 OK')
    await newest(page).locator('.log-facts', { hasText: 'curl/' }).waitFor()
  })

  test("a code sample reads the visitor's key from a variable", async () => {
    const { token, url } = await startSite({ demoKeys: () => [] })
    const { page } = await open(url)
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByLabel('API key', { exact: true }).fill(token)
    await button(page, 'Use key').click()
    await (await openNewest(page)).getByRole('button', { name: 'Python' }).click()
    await newest(page).getByText('os.environ["PETSTORE_API_KEY"]').waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).not.toContain(token)
  })

  test('an open entry of the log does not move while 150 requests arrive', async () => {
    const { keyStore, url } = await startSite()
    const { token } = await keyStore.issue({ plan: 'pro' })
    const { page } = await open(url)
    await row(page, '1 Rex 1 available')
    await (await openNewest(page)).locator('.log-content > p').first().click()
    const read = await page.locator('#log > li').first().elementHandle()
    let before: { readonly y: number } | null | undefined
    const headers = { authorization: `Bearer ${token}` }
    for (let i = 1; i <= 150; i++) {
      await fetch(`${url}/v1/pets?limit=1`, { headers })
      // The server remembers only 100 requests, so the page must load these before the rest is sent.
      if (i === 90) await page.locator('#log > li').nth(90).waitFor({ state: 'attached' })
      if (i === 90) before = await read?.boundingBox()
    }
    // The number is smaller if the first of these requests arrived while the log was too short to be scrolled.
    const newer = page.getByRole('button', { name: /^1\d\d newer$/ })
    await newer.waitFor()
    expect(Math.abs(((await read?.boundingBox())?.y ?? 0) - (before?.y ?? 0))).toBeLessThan(2)
    await expect.poll(() => page.locator('#log > li').count()).toBe(101)
    await newer.click()
    expect(await page.locator('#log').evaluate(({ scrollTop }) => scrollTop)).toBe(0)
    expect(await newer.isVisible()).toBe(false)
    await page.locator('#log > li').last().locator('summary').first().click()
    await expect.poll(() => page.locator('#log > li').count()).toBe(100)
  })

  test('a visitor can filter and clear the log, and send a request again', async () => {
    const { url } = await startSite()
    const { page } = await open(url)
    await row(page, '1 Rex 1 available')
    await fetch(`${url}/v1/pets`)
    await newest(page).getByText('401 Unauthorized').waitFor()
    await page.getByText('5xx', { exact: true }).click()
    await page.getByText('No request fits the filter.').waitFor()
    await page.getByText('4xx', { exact: true }).click()
    expect(await page.locator('#log > li:visible').count()).toBe(1)
    await page.getByText('2xx', { exact: true }).click()
    expect(await page.locator('#log > li:visible').count()).toBe(1)
    await page.locator('#log-filter').getByText('All', { exact: true }).click()
    await page.getByPlaceholder('Filter by text').fill('unauthorized')
    expect(await page.locator('#log > li:visible').count()).toBe(1)
    await page.getByPlaceholder('Filter by text').fill('')
    await newest(page).locator('summary').first().click()
    await newest(page).getByRole('button', { name: 'Send again' }).click()
    await newest(page).getByText('returned 8 animals').waitFor()
    await button(page, 'Clear').click()
    await page.getByText('The next request of any program appears here.').waitFor()
  })

  test('a request of the log can be changed and sent with all its digits', async () => {
    const { token, url } = await startSite()
    const { page } = await open(url)
    // Otherwise the page's own first request may become the newest entry of the log.
    await row(page, '1 Rex 1 available')
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': 'a' }
    const body = '{"name":"Max","categoryId":9223372036854775807}'
    await fetch(`${url}/v1/pets`, { method: 'POST', headers, body })
    await newest(page).getByText('201 Created').waitFor()
    await (await openNewest(page)).getByRole('button', { name: 'Edit and send' }).click()
    const form = page.getByRole('form', { name: 'Write a request' })
    expect(await form.getByLabel('Body').inputValue()).toBe(body)
    const lines = await form.getByLabel('Headers').inputValue()
    expect(lines.split('\n')).toContain('Idempotency-Key: a')
    await form.getByLabel('Headers').fill(lines.replace('Idempotency-Key: a', 'Idempotency-Key: b'))
    await form.getByLabel('Body').fill(body.replace('Max', 'Ada'))
    await form.getByRole('button', { name: 'Send' }).click()
    await newest(page).getByText('The animal was added. Its id is 10.').waitFor()
    await newest(page).getByText('"categoryId": 9223372036854775807').first().waitFor()
    await form.getByLabel('Headers').fill('no colon')
    await form.getByRole('button', { name: 'Send' }).click()
    await form.getByText('Write each header as Name: value.').waitFor()
  })

  test('a reload shows the known animals again and sends no request', async () => {
    const { token, url } = await startSite()
    const { page } = await open(url)
    await row(page, '1 Rex 1 available')
    for (let i = 0; i < 5; i++) {
      await page.reload()
      await row(page, '1 Rex 1 available')
    }
    await page.getByText('This page has sent 0 requests with this key since it was loaded.').waitFor()
    expect(await page.getByRole('meter', { name: 'Requests this minute' }).getAttribute('aria-valuenow')).toBe('59')
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    await fetch(`${url}/v1/pets`, { method: 'POST', headers, body: '{"name":"Ada","categoryId":2,"status":"sold"}' })
    await page.reload()
    await row(page, '9 Ada 2 sold')
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
    await (await openNewest(page)).getByText('returned 8 animals').waitFor()
    await page.getByRole('meter', { name: 'Requests today' }).getByText('not known yet').waitFor()
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
    await page.getByRole('meter', { name: 'Requests this minute' }).getByText('not known yet').waitFor()
    await button(page, 'Refresh').click()
    await page.getByText('The server does not respond. The animals appear when it responds again.').first().waitFor()
    expect(await names(page)).toHaveLength(8)

    await startSite({ demoKeys: () => [] }, { port, token })
    await page.getByText('Connected').waitFor()
    await page.getByText('Page 1: 8 animals.').waitFor()
    expect(await page.locator('#animals-note').isVisible()).toBe(false)
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
    // The jump of the clock may abort a running poll. Then the gauge is empty until the page has connected again.
    const later = async () => {
      await page.clock.runFor(1_000)
      return left('This minute')
    }
    await expect.poll(later).toBe('Just reset')
  })

  test('the limits show a banned key as banned, also in the next minute', async () => {
    const { clock, url, token } = await startSite()
    const headers = { authorization: `Bearer ${token}` }
    for (let i = 0; i < 120; i++) await fetch(`${url}/v1/pets?limit=1`, { headers })
    clock.advance(61_000)
    const { page } = await open(url)
    const meter = page.getByRole('meter', { name: 'Requests this minute' })
    await page.getByText('Banned for 3:59').waitFor()
    expect(await meter.getAttribute('aria-valuetext')).toBe('0 of 60 left')
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
    await (await openNewest(page)).getByText('Requests without a valid key are counted by address. Until').waitFor()
    expect(await button(page, 'Keep sending until the ban').isVisible()).toBe(false)
  })

  test('after a 429, the page loads the animals when the window ends', async () => {
    const { clock, storage, url } = await startSite()
    const page = await openAt(url, clock.now())
    await row(page, '1 Rex 1 available')
    await button(page, 'Send requests until the limit').click()
    await page.getByText('The limit is reached').waitFor()
    await page.getByText('Sold', { exact: true }).first().click()
    await page.getByText('The part "Rate limit" shows for how long. The table shows the last page').first().waitFor()
    await storage.create({ name: 'Tiger', categoryId: 1n, status: 'sold' })
    clock.advance(60_000)
    await page.clock.runFor(60_000)
    await row(page, '9 Tiger 1 sold')
    expect(await page.getByText('The limit is reached').isVisible()).toBe(false)
    expect(await button(page, 'Send requests until the limit').isVisible()).toBe(true)
  })

  test('a visitor can cause a ban with the keyboard, and keeps the focus', async () => {
    const { url } = await startSite()
    const { page } = await open(url)
    await row(page, '1 Rex 1 available')
    const focused = () => page.evaluate(() => document.activeElement?.id)
    await button(page, 'Send requests until the limit').focus()
    await page.keyboard.press('Enter')
    await page.getByText('The limit is reached').waitFor()
    await button(page, 'Keep sending until the ban').waitFor()
    expect(await focused()).toBe('keep-sending')
    await page.keyboard.press('Enter')
    await page.getByText('This key is banned').waitFor()
    await page.waitForFunction(() => document.activeElement?.id === 'refusal-title')
  })

  test('the button Stop ends "Send requests until the limit"', async () => {
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
