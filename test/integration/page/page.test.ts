import { describe, expect, test } from 'vitest'
import { axeFindings } from '../../support/chromium.ts'
import { button, clickNewest, isMissing, isTooWide, LOOKS, left, names, newest, row, useChromium } from './browser.ts'
import { SECRET, startSite } from './site.ts'

const { open, openWithoutSecret } = useChromium()

describe.skipIf(isMissing)('the live view', () => {
  test.each(LOOKS)('a visitor can filter, add an animal, and cause a ban (%i px, %s)', async (width, colorScheme) => {
    const { url } = await startSite({}, { perMinute: 15 })
    const { page, faults } = await open(url, width, colorScheme)
    await row(page, '1 Rex 1 available')
    await page.getByText('Connected').waitFor()
    const findings = await axeFindings(page)

    await page.locator('#filter').selectOption('sold')
    await expect.poll(() => names(page)).toEqual(['Nibbles', 'Pepper'])
    await page.locator('#filter').selectOption('all')
    await row(page, '1 Rex 1 available')

    await page.getByLabel('Name', { exact: true }).fill('Tiger')
    await button(page, 'Add animal').click()
    await page.getByText('Tiger was added with the id 9.').waitFor()
    await row(page, '9 Tiger New 1 available')

    await button(page, 'Send requests until the limit').click()
    await page.getByText('The limit is reached').waitFor()
    await page.getByText('0 of 15 left').waitFor()
    expect([await left(page, 'Requests this minute'), await left(page, 'Requests today')]).toEqual([0, 985])
    await newest(page).getByText('429 Too Many Requests').waitFor()
    await (await clickNewest(page)).getByText('Retry after 60 seconds. Until the limit resets').waitFor()
    await newest(page).getByText('"code": "rate_limit_exceeded"').waitFor()
    findings.push(...(await axeFindings(page)))
    await clickNewest(page)

    await button(page, 'Keep sending until the ban').click()
    await page.getByText('This key is banned').waitFor()
    await newest(page).getByText('0 left of 15').waitFor()
    await (await clickNewest(page)).getByText('Retry after 300 seconds. The key kept sending requests').waitFor()
    findings.push(...(await axeFindings(page)))

    expect({ findings, faults, isTooWide: await isTooWide(page) }).toEqual({
      findings: [],
      faults: [],
      isTooWide: false,
    })
  })

  test('the buttons Next and Previous show the pages of the animals', async () => {
    const { storage, url } = await startSite()
    for (let i = 9; i <= 12; i++) await storage.create({ name: `Pet ${i}`, categoryId: 1n, status: 'sold' })
    const { page } = await open(url)
    await row(page, '10 Pet 10 1 sold')
    await button(page, 'Next').focus()
    await page.keyboard.press('Enter')
    await page.getByText('Page 2', { exact: true }).waitFor()
    expect(await names(page)).toEqual(['Pet 11', 'Pet 12'])
    // On the last page, the button Next is disabled and keeps the focus.
    expect(await button(page, 'Next').getAttribute('aria-disabled')).toBe('true')
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('next')
    await button(page, 'Previous').click()
    await row(page, '1 Rex 1 available')
    expect(await button(page, 'Previous').getAttribute('aria-disabled')).toBe('true')
  })

  test('an animal that another program adds is shown and marked', async () => {
    const { token, url } = await startSite()
    const { page } = await open(url)
    await row(page, '1 Rex 1 available')
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const body = '{"name":"Ada","categoryId":9223372036854775807,"status":"sold"}'
    await fetch(`${url}/v1/pets`, { method: 'POST', headers, body })
    await row(page, '9 Ada New 9223372036854775807 sold')
    expect(await names(page)).toHaveLength(9)
    await button(page, 'Refresh').click()
    await expect.poll(async () => (await names(page)).at(-1)).toBe('Ada New')
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

  test.each([320, 1280])('long names and numbers fit a screen of %i pixels', async (width) => {
    const { storage, url } = await startSite()
    await storage.create({ name: 'x'.repeat(1_000), categoryId: 9_223_372_036_854_775_807n, status: 'sold' })
    await storage.create({ name: '\u202egpj.exe', categoryId: -9_223_372_036_854_775_808n, status: 'sold' })
    const { page } = await open(url, width)
    const long = page.getByRole('row', { name: '9223372036854775807' }).first()
    await long.waitFor()
    expect((await long.boundingBox())?.height).toBeLessThan(400)
    await long.getByText('x'.repeat(60)).first().click()
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
    await page.locator('#filter').selectOption('sold')
    await page.getByText('There are no such animals.').waitFor()
  })
})

describe.skipIf(isMissing)('the key', () => {
  test('without a demo key, the page asks for a key and keeps it', async () => {
    const { token, url } = await startSite({ demoKeys: () => [] })
    const { page, faults } = await open(url)
    await page.getByText('Enter an API key above to see the animals.').waitFor()
    expect(await page.getByLabel('Demo key').isVisible()).toBe(false)
    const findings = await axeFindings(page)
    await page.getByLabel('API key', { exact: true }).fill(token)
    await button(page, 'Use key').click()
    await row(page, '1 Rex 1 available')
    await page.reload()
    await row(page, '1 Rex 1 available')
    expect({ findings, faults }).toEqual({ findings: [], faults: [] })
  })

  test('a wrong key is marked, and the list of demo keys leads back', async () => {
    const { page } = await open((await startSite()).url)
    await row(page, '1 Rex 1 available')
    const field = page.getByLabel('API key', { exact: true })
    await field.fill('wrong')
    await button(page, 'Use key').click()
    await page.getByRole('status').getByText('The server does not accept this key').waitFor()
    expect(await field.getAttribute('aria-invalid')).toBe('true')
    expect(await axeFindings(page)).toEqual([])
    await page.getByLabel('Demo key').selectOption('free')
    await row(page, '1 Rex 1 available')
    expect(await field.getAttribute('aria-invalid')).toBe('false')
  })

  test('the page gets a demo key only with the secret of its URL, and hides the secret', async () => {
    const { url } = await startSite()
    const { page } = await openWithoutSecret(url)
    await page.getByText('Open the whole address that the server has printed').waitFor()
    expect(await page.getByLabel('Demo key').isVisible()).toBe(false)
    await page.goto(`${url}#${SECRET}`)
    await row(page, '1 Rex 1 available')
    expect(page.url()).not.toContain(SECRET)
    await page.goto(`${url}#another-secret-of-25-letters`)
    await page.goBack()
    await page.reload()
    await row(page, '1 Rex 1 available')
  })
})
