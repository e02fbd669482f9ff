import { describe, expect, test } from 'vitest'
import { axeFindings } from '../../support/chromium.ts'
import { isMissing, isTooWide, LOOKS, newest, row, useChromium } from './browser.ts'
import { startSite } from './site.ts'

const { open, openWithoutScripts } = useChromium()

describe.skipIf(isMissing)('the API reference', () => {
  test.each([...LOOKS, [320, 'light'] as const])(
    'the page shows each operation (%i px, %s)',
    async (width, colorScheme) => {
      const { url } = await startSite()
      const { page, faults } = await open(`${url}/reference`, width, colorScheme)
      for (const name of ['List animals', 'Add an animal', 'Get an animal'])
        await page.getByRole('heading', { name, level: 2 }).waitFor()
      expect({ findings: await axeFindings(page), faults, isTooWide: await isTooWide(page) }).toEqual({
        findings: [],
        faults: [],
        isTooWide: false,
      })
    },
  )

  test('the reference can be read without JavaScript', async () => {
    const { url } = await startSite()
    const page = await openWithoutScripts(`${url}/reference#createPet`)
    const operation = page.getByRole('region', { name: 'Add an animal' })
    await operation.getByText('Python', { exact: true }).click()
    await operation.getByText('urllib.request.Request(').waitFor()
    expect(await operation.getByText('curl -i').isVisible()).toBe(false)
  })

  test('the menu marks the current section and deprecated operations', async () => {
    const { page } = await open(`${(await startSite()).url}/reference`)
    const menu = page.getByRole('navigation', { name: 'Contents' })
    const current = menu.locator('[aria-current]')
    expect(await current.allTextContents()).toEqual(['Introduction'])
    await menu.getByRole('link', { name: 'Get an animal Deprecated' }).click()
    await expect.poll(() => current.textContent()).toContain('Get an animal')
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight))
    await expect.poll(() => current.textContent()).toBe('Headers of every response')
    expect(await menu.isVisible()).toBe(true)
  })

  test('one choice sets the language of all samples, and samples can be copied', async () => {
    const { page } = await open(`${(await startSite()).url}/reference`)
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    const samples = page.getByRole('complementary', { name: 'Samples for Add an animal' })
    const other = page.getByRole('complementary', { name: 'Samples for Get an animal' })
    await samples.getByText('Go', { exact: true }).click()
    await other.getByText('package main').waitFor()
    await page.reload()
    await other.getByText('package main').waitFor()
    await samples.getByRole('button', { name: 'Copy' }).locator('visible=true').first().click()
    await samples.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/^package main[\s\S]+"POST"/)

    // Browsers give no clipboard to a page over plain HTTP from another machine, so this test removes it.
    await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }))
    await samples.getByRole('button', { name: 'Copied' }).click()
    await samples.getByRole('button', { name: 'Selected' }).waitFor()
    expect(await page.evaluate(() => String(getSelection()))).toMatch(/^package main/)
  })

  test.each([
    ['List animals', 'GET', '/v1/pets', ''],
    ['Get an animal', 'GET', '/v1/pets/7', ''],
    ['Add an animal', 'POST', '/v1/pets', '{"name":"Ada","categoryId":2,"status":"sold"}'],
  ])('"Edit and send" of %s fills in the request', async (name, method, target, body) => {
    const { url } = await startSite()
    const { page } = await open(url)
    await row(page, '1 Rex 1 available')
    await page.goto(`${url}/reference`)
    const samples = page.getByRole('complementary', { name: `Samples for ${name}` })
    await samples.getByRole('link', { name: 'Edit and send' }).click()
    const form = page.getByRole('form', { name: 'Write a request' })
    await form.waitFor()
    // Otherwise the page's own first request may become the newest entry of the log.
    await row(page, '1 Rex 1 available')
    expect([await form.getByLabel('Method').inputValue(), await form.getByLabel('Path').inputValue()]).toEqual([
      method,
      target,
    ])
    expect(JSON.parse((await form.getByLabel('Body').inputValue()) || '""')).toEqual(JSON.parse(body || '""'))
    await form.getByRole('button', { name: 'Send' }).click()
    await form.getByText('Sent.').waitFor()
    await newest(page)
      .getByText(method === 'POST' ? '201 Created' : '200 OK')
      .waitFor()
  })

  test('the switch for light and dark is kept for the next visit', async () => {
    const { url } = await startSite()
    const { page } = await open(`${url}/reference`)
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    const light = await background()
    await page.getByRole('button', { name: 'Dark' }).click()
    expect(await background()).not.toBe(light)
    await page.goto(url)
    expect(await page.getByRole('button', { name: 'Dark' }).getAttribute('aria-pressed')).toBe('true')
    await page.getByRole('button', { name: 'Dark' }).click()
    await expect.poll(background).toBe(light)
  })
})
