// Makes the picture of the README as vector images, for both themes: prints the page to a PDF, and converts the PDF to an SVG. Needs Chromium
// and pdftocairo (Debian: poppler-utils): npm run build && node docs/images/make.mjs
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { chromium } from 'playwright-core'
import { optimize } from 'svgo'

const WIDTH = 1280
const TITLE = 'A 429 in the live view of petstore serve: the limit, the time left, and the log of requests'

const root = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'petstore-images-'))
const server = spawn(process.execPath, [join(root, 'dist/cli.js'), 'serve', '--port', '0'])
let browser
let address
try {
  for await (const line of createInterface({ input: server.stdout })) {
    address ??= /^Open (\S+) in a browser/.exec(line)?.[1]
    if (line.startsWith('Ctrl-C')) break
  }
  browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--headless', '--no-sandbox'] })
  const page = await openAfterRefusal()
  for (const theme of ['light', 'dark']) await makeImage(page, theme)
} finally {
  await browser?.close()
  server.kill()
  rmSync(folder, { recursive: true })
}

/** Opens the live view, sends requests until a 429, and hides everything but the limits and the log. */
async function openAfterRefusal() {
  const page = await browser.newPage({ viewport: { width: WIDTH, height: 900 } })
  await page.emulateMedia({ media: 'screen' })
  await page.goto(address)
  // Both pictures must be ready before the minute ends, because then the limit resets.
  await page.waitForFunction(() => new Date().getSeconds() < 30)
  await page.getByRole('button', { name: 'Send requests until the limit' }).click()
  await page.getByText('The limit is reached').waitFor()
  await page.locator('#log > li', { hasText: '429' }).first().locator('summary').first().click()
  await page.getByText('serves this key again after').waitFor()
  await page.evaluate(() => {
    const others = '.top, .intro, .steps, .columns section:not(:has(#gauges, #log))'
    for (const element of document.querySelectorAll(others)) element.hidden = true
    for (const item of document.querySelectorAll('#log > li:nth-child(n + 3)')) item.remove()
    document.querySelector('main').style.padding = '20px'
    // A soft shadow would become a bitmap. If a box clipped its text, the SVG would repeat the box's outline for each letter.
    document.documentElement.style.setProperty('--shadow', 'none')
    for (const { style } of document.querySelectorAll('pre, .log-request')) {
      style.overflow = 'visible'
      style.maxHeight = 'none'
    }
  })
  return page
}

async function makeImage(page, theme) {
  const name = `limit-${theme}`
  await page.evaluate((scheme) => {
    document.documentElement.style.colorScheme = `only ${scheme}`
  }, theme)
  const height = await page.evaluate(() => document.querySelector('main').offsetHeight)
  const pdf = join(folder, `${name}.pdf`)
  const svg = join(folder, `${name}.svg`)
  // One pixel more than the page: otherwise, rounding could start a second page of the PDF. The view box cuts the pixel off.
  await page.pdf({ path: pdf, width: `${WIDTH + 1}px`, height: `${height + 1}px`, printBackground: true })
  execFileSync('pdftocairo', ['-svg', '-f', '1', '-l', '1', pdf, svg])
  const { data } = optimize(readFileSync(svg, 'utf8'), { multipass: true, floatPrecision: 2 })
  const size = `width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH * 0.75} ${height * 0.75}"`
  const image = data.replace(
    / width="[^"]*" height="[^"]*" viewBox="[^"]*"([^>]*)>/,
    ` ${size}$1><title>${TITLE}</title>`,
  )
  writeFileSync(join(import.meta.dirname, `${name}.svg`), image)
  console.log(`${name}.svg: ${WIDTH} x ${height}, ${Math.ceil(image.length / 1000)} kB`)
}
