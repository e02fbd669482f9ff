import { describe, expect, test } from 'vitest'
import { axeFindings } from '../../support/chromium.ts'
import { button, isMissing, isTooWide, LOOKS, names, newest, openNewest, row, useChromium } from './browser.ts'
import { SECRET, startSite } from './site.ts'

const { open, openWithoutSecret } = useChromium()

describe.skipIf(isMissing)('the live view', () => {
  test.each(LOOKS)('a visitor can filter, add an animal, and cause a ban (%i px, %s)', async (width, colorScheme) => {
    const { url } = await startSite({}, { perMinute: 15 })
    const { page, faults } = await open(url, width, colorScheme)
    await row(page, '1 Rex 1 available')
    await page.getByText('Connected').waitFor()
    const findings = await axeFindings(page)

    await page.getByText('Sold', { exact: true }).first().click()
    await page.getByText('Page 1: 2 sold animals.').waitFor()
    expect(await names(page)).toEqual(['Nibbles', 'Pepper'])
    await page.getByText('All', { exact: true }).first().click()
    await row(page, '1 Rex 1 available')

    await page.getByLabel('Name', { exact: true }).fill('Tiger')
    await button(page, 'Add animal').click()
    await page.getByText('Tiger was added with the id 9.').waitFor()
    await row(page, '9 Tiger New 1 available')

    await button(page, 'Send requests until the limit').click()
    await page.getByText('The limit is reached').waitFor()
    await page.getByRole('meter', { name: 'Requests this minute' }).getByText('of 15 left').waitFor()
    expect(await page.getByRole('meter', { name: 'Requests this minute' }).getAttribute('aria-valuenow')).toBe('0')
    expect(await page.getByRole('meter', { name: 'Requests today' }).getAttribute('aria-valuenow')).toBe('985')
    await newest(page).getByText('429 Too Many Requests').waitFor()
    await (await openNewest(page)).getByText('Retry after 60 seconds. Until the limit resets').waitFor()
    await newest(page).getByText('"code": "rate_limit_exceeded"').waitFor()
    findings.push(...(await axeFindings(page)))

    await button(page, 'Keep sending until the ban').click()
    await page.getByText('This key is banned').waitFor()
    await (await openNewest(page)).getByText('Retry after 300 seconds. The key kept sending requests').waitFor()
    findings.push(...(await axeFindings(page)))

    expect({ findings, faults, isTooWide: await isTooWide(page) }).toEqual({
      findings: [],
      faults: [],
      isTooWide: false,
    })
  })

  test('the page has a heading, a list of first steps and one primary button', async () => {
    const { token, url } = await startSite({}, { perMinute: 5 })
    const { page } = await open(url)
    await row(page, '1 Rex 1 available')
    await page.getByRole('heading', { name: 'A pet store API that runs on your machine', level: 1 }).waitFor()
    expect(await page.getByRole('list', { name: 'First steps' }).getByRole('listitem').count()).toBe(3)
    expect(await page.locator('button.primary:visible').allTextContents()).toEqual(['Copy curl'])
    await page.locator('#first-sample', { hasText: `Bearer ${token}` }).waitFor()
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await button(page, 'Copy curl').click()
    await page.getByText('Copied as curl, with the demo key.').waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain(token)

    const focusedAfter = async (name: string) => {
      await button(page, name).click()
      return page.evaluate(() => document.activeElement?.id)
    }
    expect(await focusedAfter('Go to the form')).toBe('name')
    expect(await focusedAfter('Go to the rate limit')).toBe('burst')
    await page.keyboard.press('Enter')
    await page.getByText('The limit is reached').waitFor()
    expect(await focusedAfter('Go to the rate limit')).toBe('refusal-title')
  })

  test('the link "Skip to the content" keeps the URL and the shown animals', async () => {
    const { page } = await open((await startSite()).url)
    await page.getByLabel('Per page').selectOption('5')
    await page.getByText('Page 1: 5 animals.').waitFor()
    await button(page, 'Next').click()
    await page.getByText('Page 2: 3 animals.').waitFor()
    const before = page.url()
    await page.getByRole('link', { name: 'Skip to the content' }).focus()
    await page.keyboard.press('Enter')
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('main')
    expect(page.url()).toBe(before)
    await button(page, 'Previous').click()
    await page.getByText('Page 1: 5 animals.').waitFor()
  })

  test('the URL contains the filter, the cursor and the page size', async () => {
    const { url } = await startSite()
    const { page } = await open(url)
    await page.getByLabel('Per page').selectOption('5')
    await page.getByText('Page 1: 5 animals.').waitFor()
    await button(page, 'Next').focus()
    await page.keyboard.press('Enter')
    await page.getByText('Page 2: 3 animals.').waitFor()
    // On the last page, the button Next is disabled and keeps the focus.
    expect(await button(page, 'Next').getAttribute('aria-disabled')).toBe('true')
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('next')
    const { search } = new URL(page.url())
    expect(search).toMatch(/^\?limit=5&cursor=\w+$/)

    await page.getByText('Sold', { exact: true }).first().click()
    await page.getByText('Page 1: 2 sold animals.').waitFor()
    await page.goBack()
    await page.getByText('Page 2: 3 animals.').waitFor()
    await page.reload()
    await page.getByText('Page 2: 3 animals.').waitFor()
    await button(page, 'Previous').click()
    await page.getByText('Page 1: 5 animals.').waitFor()

    await page.goto(`${url}/${search}`)
    await page.getByText('A later page: 3 animals.').waitFor()
    await button(page, 'First page').click()
    await page.getByText('Page 1: 5 animals.').waitFor()
  })

  test('a new animal is shown even if the page or the filter excludes it', async () => {
    const { token, url } = await startSite()
    const { page } = await open(url)
    await page.getByLabel('Per page').selectOption('5')
    await page.getByText('Page 1: 5 animals.').waitFor()
    await page.getByLabel('Name', { exact: true }).fill('Max')
    await page.getByLabel('Category id').fill('9223372036854775807')
    await button(page, 'Add animal').click()
    await row(page, '9 Max New, on another page 9223372036854775807 available')
    await page.getByText('Sold', { exact: true }).first().click()
    await row(page, '9 Max New, hidden by the filter 9223372036854775807 available')

    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    await fetch(`${url}/v1/pets`, { method: 'POST', headers, body: '{"name":"Ada","categoryId":2,"status":"sold"}' })
    await row(page, '10 Ada New 2 sold')
  })

  test('two clicks on "Add animal" add one animal, and a slow response is announced', async () => {
    const { url } = await startSite()
    const { page } = await open(url)
    await row(page, '1 Rex 1 available')
    let respond = () => {}
    const isReady = new Promise<void>((resolve) => {
      respond = resolve
    })
    await page.route('**/v1/pets', async (route) => {
      await isReady
      await route.continue()
    })
    await page.getByLabel('Name', { exact: true }).fill('Max')
    await button(page, 'Add animal').dblclick()
    await page.getByText('The server has not responded yet.').waitFor()
    await button(page, 'Adding…').click({ force: true })
    respond()
    await page.getByText('Max was added with the id 9.').waitFor()
    await button(page, 'Add animal').waitFor()
    await page.getByLabel('Name', { exact: true }).fill('Ada')
    await button(page, 'Add animal').click()
    await page.getByText('Ada was added with the id 10.').waitFor()
  })

  test.each([320, 390, 1280])('long names and numbers fit a screen of %i pixels', async (width) => {
    const { storage, url } = await startSite()
    await storage.create({ name: 'x'.repeat(1_000), categoryId: 9_223_372_036_854_775_807n, status: 'sold' })
    await storage.create({ name: '\u202egpj.exe', categoryId: -9_223_372_036_854_775_808n, status: 'sold' })
    const { page } = await open(url, width)
    const long = page.getByRole('row', { name: '9223372036854775807' }).first()
    await long.waitFor()
    expect((await long.boundingBox())?.height).toBeLessThan(300)
    const lines = page.locator('#rows .number').evaluateAll((cells) =>
      cells.map((cell) => {
        const range = document.createRange()
        range.selectNodeContents(cell)
        return range.getClientRects().length
      }),
    )
    expect(await lines).toEqual(Array(20).fill(1))
    await long.getByText('x'.repeat(80)).first().click()
    await page.getByText('x'.repeat(1_000), { exact: true }).waitFor()
    await page.getByLabel('Name', { exact: true }).fill('W'.repeat(1_000))
    await button(page, 'Add animal').click()
    await page.locator('#add-note', { hasText: 'was added with the id' }).waitFor()
    expect(await isTooWide(page)).toBe(false)
  })

  test('a name with HTML or a right-to-left override is shown as text', async () => {
    const { url } = await startSite()
    const { page, faults } = await open(url)
    for (const name of ['<img src=x onerror=alert(1)>', '\u202egpj.exe']) {
      await page.getByLabel('Name', { exact: true }).fill(name)
      await button(page, 'Add animal').click()
      await page.locator('#add-note bdi', { hasText: name }).waitFor()
    }
    await page.locator('#rows bdi', { hasText: '<img src=x onerror=alert(1)>' }).waitFor()
    expect(faults).toEqual([])
  })

  test('the page shows the error message of a rejected request', async () => {
    const { page } = await open((await startSite()).url)
    await row(page, '1 Rex 1 available')
    await page.getByLabel('Name', { exact: true }).fill('Max')
    await page.getByLabel('Category id').fill('9223372036854775808')
    await button(page, 'Add animal').click()
    await page.getByRole('status').getByText('categoryId').waitFor()
    await newest(page).getByText('400 Bad Request').waitFor()
  })

  test('the page says that there are no animals', async () => {
    const { page } = await open((await startSite()).url)
    await row(page, '1 Rex 1 available')
    await page.route('**/v1/pets?*', (route) => route.fulfill({ body: '[]' }))
    await page.getByText('Sold', { exact: true }).first().click()
    await page.getByText('There are no sold animals.').waitFor()
  })
})

describe.skipIf(isMissing)('the key', () => {
  test('without a demo key, the page asks for a key and keeps it', async () => {
    const { token, url } = await startSite({ demoKeys: () => [] })
    const { page, faults } = await open(url)
    await page.getByText('Enter an API key above to see the animals.').first().waitFor()
    expect(await page.getByLabel('Demo key').isVisible()).toBe(false)
    const findings = await axeFindings(page)

    await page.getByLabel('API key', { exact: true }).fill('wrong')
    await button(page, 'Use key').click()
    await page.getByText('does not accept this key, so there are no limits to show').waitFor()
    await page.getByLabel('API key', { exact: true }).fill(token)
    await button(page, 'Use key').click()
    await row(page, '1 Rex 1 available')
    await page.reload()
    await row(page, '1 Rex 1 available')
    const kept = await page.evaluate(() => JSON.stringify([location.href, localStorage, document.cookie]))
    expect(kept).not.toContain(token)
    expect({ findings, faults }).toEqual({ findings: [], faults: [] })
  })

  test('a wrong key is marked, and one click returns to the demo key', async () => {
    const { page } = await open((await startSite()).url)
    await row(page, '1 Rex 1 available')
    const field = page.getByLabel('API key', { exact: true })
    await field.fill('wrong')
    await button(page, 'Use key').click()
    await page.getByRole('status').getByText('The server does not accept this key').waitFor()
    expect(await field.getAttribute('aria-invalid')).toBe('true')
    expect(await field.evaluate((e) => getComputedStyle(e).borderColor)).toBe('rgb(179, 38, 30)')
    expect(await axeFindings(page)).toEqual([])
    await button(page, 'Use the free demo key').click()
    await row(page, '1 Rex 1 available')
    expect(await field.getAttribute('aria-invalid')).toBe('false')
  })

  test('the page gets a demo key only with the secret of its URL', async () => {
    const { url } = await startSite()
    const { page } = await openWithoutSecret(url)
    await page.getByText('Open the whole address that the server has printed').waitFor()
    expect(await page.getByLabel('Demo key').isVisible()).toBe(false)
    await page.goto(`${url}#${SECRET}`)
    await row(page, '1 Rex 1 available')
    expect(page.url()).not.toContain(SECRET)
    for (const fragment of ['x', '/x', 'another-secret-of-25-letters']) {
      await page.goto(`${url}#${fragment}`)
      await page.goto(`${url}?reload#${fragment}`)
    }
    await row(page, '1 Rex 1 available')
    await page.reload()
    await row(page, '1 Rex 1 available')
  })
})
