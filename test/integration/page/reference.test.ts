import { describe, expect, test } from 'vitest'
import { axeFindings } from '../../support/chromium.ts'
import { isMissing, isTooWide, LOOKS, useChromium } from './browser.ts'
import { startSite } from './site.ts'

const { open, openWithoutScripts } = useChromium()

describe.skipIf(isMissing)('the API reference', () => {
  test.each([...LOOKS, [320, 'light'] as const])(
    'the page shows each operation (%i px, %s)',
    async (width, colorScheme) => {
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

  test('the first operation is near the top, and Errors is at the end', async () => {
    const { page } = await open(`${(await startSite()).url}/reference`)
    const top = async (name: string) =>
      (await page.getByRole('heading', { name, level: 2 }).boundingBox())?.y ?? Number.NaN
    expect(await top('List animals')).toBeLessThan(450)
    expect(await top('Errors')).toBeGreaterThan(await top('Get an animal'))
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

  test('in a window 1,100 pixels wide, the samples stay beside their operation', async () => {
    const { page } = await open(`${(await startSite()).url}/reference`, 1100)
    const samples = page.getByRole('complementary', { name: 'Samples for List animals' })
    await page.evaluate(() => scrollTo(0, 800))
    const { x = 0, y = 0 } = (await samples.boundingBox()) ?? {}
    expect({ isBeside: x > 550, y }).toEqual({ isBeside: true, y: 16 })
    await page.setViewportSize({ width: 1099, height: 900 })
    expect((await samples.boundingBox())?.x).toBeLessThan(350)
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
    [390, 'block'],
    [1920, 'table-row'],
  ])('at %i pixels, a row of a table is shown as a %s', async (width, display) => {
    const { page } = await open(`${(await startSite()).url}/reference`, width)
    const rows = page.locator('#errors tbody tr')
    expect(await rows.first().evaluate((row) => getComputedStyle(row).display)).toBe(display)
  })

  test('with forced colours, the current section and the chosen language are visible', async () => {
    const { page } = await open(`${(await startSite()).url}/reference`)
    await page.emulateMedia({ forcedColors: 'active' })
    const colours = await page.evaluate(() => {
      const of = (selector: string) => getComputedStyle(document.querySelector(selector) as Element)
      return {
        current:
          of('.contents [aria-current]').borderLeftColor === of('.contents a:not([aria-current])').borderLeftColor,
        chosen: of('.samples :checked + span').backgroundColor === of('.samples :not(:checked) + span').backgroundColor,
      }
    })
    expect(colours).toEqual({ current: false, chosen: false })
  })
})

describe.skipIf(isMissing)('the console', () => {
  // axe takes seconds on Swagger UI, which is not our code. So each width and each colour scheme is tested once, not all pairs.
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

  test.each([
    [1280, 'dark'],
    [390, 'light'],
  ] as const)('the visitor sees an operation of the console without scrolling (%i px)', async (width, theme) => {
    const { page } = await open(`${(await startSite()).url}/console`, width, theme)
    const operation = page.getByRole('button', { name: 'List animals' })
    await operation.waitFor()
    expect((await operation.boundingBox())?.y).toBeLessThan(750)
    expect(await page.getByText('pet_not_found').isVisible()).toBe(false)
    await page.getByText('Pages, limits and errors').click()
    await page.getByText('pet_not_found').waitFor()
    const backgrounds = page
      .locator('#console, #console .swagger-ui')
      .evaluateAll((all) => [...new Set(all.map((element) => getComputedStyle(element).backgroundColor))])
    expect(await backgrounds).toEqual(['rgba(0, 0, 0, 0)'])
  })

  test('the console sends no optional parameters by default', async () => {
    const { page } = await open(`${(await startSite()).url}/console`)
    const operation = page.locator('#operations-pets-listPets')
    await operation.getByRole('button', { name: 'List animals' }).click()
    const request = page.waitForRequest(/v1/)
    await operation.getByRole('button', { name: 'Execute' }).click()
    expect(new URL((await request).url())).toMatchObject({ pathname: '/v1/pets', search: '' })
    await operation.getByText('"Pepper"').first().waitFor()
  })

  test('with forced colours, the tabs of the console are visible', async () => {
    const { page } = await open(`${(await startSite()).url}/console`)
    await page.emulateMedia({ forcedColors: 'active' })
    const operation = page.locator('#operations-pets-listPets')
    await operation.getByRole('button', { name: 'List animals' }).click()
    const tab = operation.locator('.tab-item.active h4 span').first()
    const [line, card] = await tab.evaluate((element) => [
      getComputedStyle(element, '::after').backgroundColor,
      getComputedStyle(element.closest('.opblock') as Element).backgroundColor,
    ])
    expect(line).not.toBe(card)
  })

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
