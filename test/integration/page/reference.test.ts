import { describe, expect, test } from 'vitest'
import { axeFindings } from '../../support/chromium.ts'
import { isMissing, isTooWide, LOOKS, useChromium } from './browser.ts'
import { startSite } from './site.ts'

const { open, openWithoutScripts } = useChromium()

describe.skipIf(isMissing)('the API reference', () => {
  test.each([...LOOKS, [320, 'light'] as const])('describes each operation (%i px, %s)', async (width, colorScheme) => {
    const { url } = await startSite({ swaggerFolder: undefined })
    const { page, faults } = await open(`${url}/reference`, width, colorScheme)
    for (const name of ['List animals', 'Add an animal', 'Get an animal'])
      await page.getByRole('heading', { name, level: 2 }).waitFor()
    await page.getByText('npm install swagger-ui-dist').waitFor()
    expect({ findings: await axeFindings(page), faults, isTooWide: await isTooWide(page) }).toEqual({
      findings: [],
      faults: [],
      isTooWide: false,
    })
  })

  test('works without JavaScript', async () => {
    const { url } = await startSite()
    const page = await openWithoutScripts(`${url}/reference#createPet`)
    const operation = page.getByRole('region', { name: 'Add an animal' })
    await operation.getByText('Python', { exact: true }).click()
    await operation.getByText('urllib.request.Request(').waitFor()
  })
})

describe.skipIf(isMissing)('the console', () => {
  // Swagger UI is not ours, and axe takes seconds on it: each width and each colour scheme is tested once.
  test.each([LOOKS[0], LOOKS[3]])(
    'the console uses the demo key (%i px, %s)',
    async (width, colorScheme) => {
      const { url } = await startSite()
      const { page, faults } = await open(`${url}/console`, width, colorScheme)
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
    const { page } = await open(`${url}/console`)
    const operation = page.locator('#operations-pets-createPet')
    await operation.locator('.opblock-summary-control').click()
    await operation
      .getByRole('textbox', { name: 'Request body' })
      .fill('{"name":"Max","categoryId":9223372036854775807}')
    await operation.getByRole('button', { name: 'Execute' }).click()
    await operation.getByText('"categoryId": 9223372036854775807').waitFor()
  })
})
