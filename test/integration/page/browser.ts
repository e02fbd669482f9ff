import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { chromiumPath, launchChromium, openPage } from '../../support/chromium.ts'
import { HANG } from '../../support/deadline.ts'
import { missing } from '../../support/skips.ts'
import { SECRET } from './site.ts'

export const isMissing = missing('Chromium', chromiumPath !== undefined)

export const LOOKS = [
  [1280, 'light'],
  [1280, 'dark'],
  [390, 'light'],
  [390, 'dark'],
] as const

/** Starts Chromium for the tests of a file. Returns functions that open pages in it. */
export function useChromium() {
  let browser: Browser
  beforeAll(async () => {
    if (!isMissing) browser = await launchChromium()
  })
  afterAll(() => browser?.close())
  return {
    /** Opens the page with the secret in its URL, and records the faults of the page. */
    async open(url: string, width = 1280, colorScheme: 'light' | 'dark' = 'light') {
      const opened = await openPage(browser, `${url}#${SECRET}`, width, colorScheme)
      onTestFinished(() => opened.page.context().close())
      return opened
    },
    async openWithoutSecret(url: string) {
      const opened = await openPage(browser, url, 1280, 'light')
      onTestFinished(() => opened.page.context().close())
      return opened
    },
    /** Opens the page with a clock that the test moves. */
    async openAt(url: string, time: number) {
      const page = await browser.newPage()
      page.setDefaultTimeout(HANG)
      onTestFinished(() => page.close())
      await page.clock.install({ time })
      await page.goto(`${url}#${SECRET}`)
      return page
    },
  }
}

/** Waits for a row of the table. `text` is the text of its cells, joined by spaces. */
export function row(page: Page, text: string): Promise<void> {
  return page.getByRole('row', { name: new RegExp(`^${text}(?:, change .*)?$`) }).waitFor()
}

export function names(page: Page): Promise<string[]> {
  return page.locator('#rows td:nth-child(2)').allTextContents()
}

export function button(page: Page, name: string) {
  return page.getByRole('button', { name, exact: true })
}

/** Returns the newest request in the log. */
export function newest(page: Page) {
  return page.locator('#log > li').first()
}

/** Opens or closes the newest request in the log, and returns its entry. */
export async function clickNewest(page: Page) {
  await newest(page).locator('summary').first().click()
  return newest(page)
}

/** Returns how many requests remain, as the gauge shows it. */
export function left(page: Page, name: string): Promise<number> {
  return page.getByRole('meter', { name }).evaluate((meter) => (meter as HTMLMeterElement).value)
}

/** Returns whether the page is wider than the screen. */
export function isTooWide(page: Page): Promise<boolean> {
  return page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth)
}
