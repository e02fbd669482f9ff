import { expect, onTestFinished, test } from 'vitest'
import { axeFindings } from '../../support/chromium.ts'
import { startServer } from '../../support/petstore-command.ts'
import { button, isMissing, names, row, useChromium } from './browser.ts'

const chromium = useChromium()

/** Opens the page of a test double whose key of the plan `free` has five requests a minute. */
async function openDouble() {
  const { output, end } = await startServer('--control-port', '0', '--plan-limits', 'free=5/100')
  onTestFinished(() => end('SIGKILL'))
  const [url = ''] = /http:\S+\/#\S+/.exec(output()) ?? []
  const [, address = ''] = /Control API on (\S+)/.exec(output()) ?? []
  const control = async (method: string, path: string, body?: object) => {
    const response = await fetch(address + path, { method, body: body ? JSON.stringify(body) : null })
    expect(response.ok).toBe(true)
  }
  // No minute ends during the test.
  await control('POST', '/clock', { set: '2027-01-15T12:00:10Z' })
  const { page, faults } = await chromium.openWithoutSecret(url)
  await row(page, '1 Rex 1 available')
  await page.getByLabel('Demo key').selectOption('free')
  return { page, faults, control }
}

const LIMIT_REACHED = 'The limit is reached'

test.skipIf(isMissing)('after POST /reset during a 429, the page shows the new state', async () => {
  const { page, faults, control } = await openDouble()
  await control('POST', '/pets', { pets: [{ name: 'Ghost', categoryId: 1 }] })
  await button(page, 'Refresh').click()
  await row(page, '9 Ghost 1 available')
  await button(page, 'Send requests until the limit').click()
  await page.getByText(LIMIT_REACHED).waitFor()
  await control('POST', '/reset')
  await page.getByText(/[45] of 5 left/).waitFor()
  await expect.poll(() => names(page)).toHaveLength(8)
  expect(await names(page)).not.toContain('Ghost')
  expect(await page.getByText(LIMIT_REACHED).isVisible()).toBe(false)
  expect(await page.locator('#animals-note').textContent()).toBe('')
  expect(faults).toEqual([])
})

test.skipIf(isMissing)('after connection/break, the page is not connected until the fault is removed', async () => {
  const { page, control } = await openDouble()
  await control('POST', '/faults', { part: 'connection', action: 'break' })
  await button(page, 'Refresh').click()
  await page.getByText('Not connected: the last request to the API got no response.').waitFor()
  await page.getByText('The server does not respond. The animals appear when it responds again.').first().waitFor()
  // The new limit lets the page try again: a broken request is counted.
  await control('POST', '/reset')
  await page.getByText('Connected', { exact: true }).waitFor()
  await expect.poll(() => page.locator('#animals-note').textContent()).toBe('')
})

test.skipIf(isMissing)('the page shows and switches the faults of the store', async () => {
  const { page, control } = await openDouble()
  await control('POST', '/faults', { part: 'quota', action: 'refuse', calls: 2 })
  await page.getByText('quota: refuse, 2 more').waitFor()
  await page.getByLabel('Chance of a 503').fill('1')
  await button(page, 'Apply').click()
  await page.getByText('storage: fail, chance 1').waitFor()
  await button(page, 'End all faults').click()
  await page.getByText('There are no faults').waitFor()
  await page.getByLabel('Chance of a 503').fill('2')
  await button(page, 'Apply').click()
  await page.getByText('Expected a chance from 0 to 1').waitFor()
  expect(await axeFindings(page)).toEqual([])
})

test.skipIf(isMissing)('no wait of a 429 stays beside a ban', async () => {
  const { page } = await openDouble()
  await button(page, 'Send requests until the limit').click()
  await page.getByText(LIMIT_REACHED).waitFor()
  await page.getByLabel('Name').first().fill('Rex')
  await button(page, 'Add animal').click()
  await button(page, 'Refresh').click()
  await button(page, 'Keep sending until the ban').click()
  await page.getByText('This key is banned').waitFor()
  // The key is banned for 300 seconds, and the limit would have ended after at most 60.
  const waits = page.getByText(/Retry after [1-6]?\d seconds/).filter({ visible: true })
  expect(await waits.allTextContents()).toEqual([])
})
