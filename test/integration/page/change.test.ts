import { describe, expect, test } from 'vitest'
import { axeFindings } from '../../support/chromium.ts'
import { button, isMissing, isTooWide, LOOKS, left, names, newest, row, useChromium } from './browser.ts'
import { startSite } from './site.ts'

const { open, openWithoutSecret } = useChromium()

describe.skipIf(isMissing)('the menu of an animal', () => {
  test.each(LOOKS)('a sold animal leaves the filter at once (%i px, %s)', async (width, colorScheme) => {
    const { url, pets } = await startSite()
    const { page, faults } = await open(url, width, colorScheme)
    await row(page, '1 Rex 1 available')
    await page.locator('#filter').selectOption('available')
    await expect.poll(() => names(page)).toEqual(['Rex', 'Misty', 'Kiwi', 'Shelly'])
    const before = await left(page, 'Requests this minute')

    await button(page, 'available, change Misty').click()
    const findings = await axeFindings(page)
    expect(await button(page, 'Make available').isVisible()).toBe(false)
    await button(page, 'Sell').click()
    await page.getByText('Misty is sold now.').waitFor()
    expect(await names(page)).toEqual(['Rex', 'Kiwi', 'Shelly'])
    expect((await pets.get(2))?.status).toBe('sold')

    await newest(page)
      .getByText("petStore.pets.update(2n, { status: 'sold' }, { if: { status: 'available' } })")
      .waitFor()
    await newest(page).locator('summary').click()
    await newest(page).getByText('This is not a request of the API').waitFor()
    expect(await left(page, 'Requests this minute')).toBe(before)
    findings.push(...(await axeFindings(page)))
    expect({ findings, faults, isTooWide: await isTooWide(page) }).toEqual({
      findings: [],
      faults: [],
      isTooWide: false,
    })
  })

  test('the keyboard opens and closes the menu, and keeps its place in the table', async () => {
    const { page } = await open((await startSite()).url)
    await row(page, '1 Rex 1 available')
    const focused = () => page.evaluate(() => document.activeElement?.id || document.activeElement?.textContent)
    await page.locator('#status-1').focus()
    await page.keyboard.press('Enter')
    await expect.poll(focused).toBe('Sell')
    await page.keyboard.press('Escape')
    await expect.poll(focused).toBe('status-1')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    await expect.poll(focused).toBe('Reserve')
    await page.keyboard.press('Enter')
    await row(page, '1 Rex 1 pending')
    expect(await focused()).toBe('status-1')
  })

  test('the focus returns to the row although another program has added an animal', async () => {
    const { token, url } = await startSite()
    const { page } = await open(url)
    await row(page, '1 Rex 1 available')
    await button(page, 'available, change Rex').click()
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    await fetch(`${url}/v1/pets`, { method: 'POST', headers, body: '{"name":"Ada","categoryId":1}' })
    await row(page, '9 Ada New 1 available')
    await page.keyboard.press('Escape')
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('status-1')
  })

  test('the menu closes when the focus leaves it', async () => {
    const { page } = await open((await startSite()).url)
    await row(page, '1 Rex 1 available')
    await button(page, 'available, change Rex').click()
    for (let i = 0; i < 3; i++) await page.keyboard.press('Tab')
    await page.locator('#menu').waitFor({ state: 'hidden' })
  })

  test('a click on another status opens the menu of that animal', async () => {
    const { page } = await open((await startSite()).url)
    await row(page, '1 Rex 1 available')
    await button(page, 'available, change Rex').click()
    await button(page, 'sold, change Pepper').click()
    await page.locator('#menu-title', { hasText: 'Pepper' }).waitFor()
    await button(page, 'Make available').click()
    await row(page, '8 Pepper 8 available')
    await row(page, '1 Rex 1 available')
  })

  test('an animal is removed after a question, on every open page', async () => {
    const { url, pets } = await startSite()
    const { page } = await open(url)
    const { page: other } = await open(url)
    await row(page, '1 Rex 1 available')
    await row(other, '1 Rex 1 available')
    const questions: string[] = []
    page.on('dialog', (dialog) => {
      questions.push(dialog.message())
      void (questions.length === 1 ? dialog.dismiss() : dialog.accept())
    })
    for (let i = 0; i < 2; i++) {
      await button(page, 'available, change Rex').click()
      await button(page, 'Remove…').click()
    }
    await page.getByText('Rex was removed.').waitFor()
    expect(questions).toEqual(['Remove Rex for good?', 'Remove Rex for good?'])
    expect(await pets.get(1)).toBeUndefined()
    await expect.poll(async () => (await names(other))[0]).toBe('Misty')
    expect((await names(page))[0]).toBe('Misty')
  })

  test('an animal that was sold in the meantime is shown as sold', async () => {
    const { url, pets } = await startSite()
    const { page } = await open(url)
    await row(page, '1 Rex 1 available')
    await pets.update(1, { status: 'sold' })
    await button(page, 'available, change Rex').click()
    await button(page, 'Reserve').click()
    await page.getByText('Rex has changed in the meantime: its status is sold.').waitFor()
    await row(page, '1 Rex 1 sold')
    await pets.remove(2)
    await button(page, 'available, change Misty').click()
    await button(page, 'Sell').click()
    await page.getByText('Misty was removed in the meantime.').waitFor()
    expect(await names(page)).toHaveLength(7)
  })

  test('without the secret, the page offers no change', async () => {
    const { token, url } = await startSite()
    const { page } = await openWithoutSecret(url)
    await page.getByLabel('API key', { exact: true }).fill(token)
    await button(page, 'Use key').click()
    await row(page, '1 Rex 1 available')
    expect(await page.locator('#rows button').count()).toBe(0)
  })
})
