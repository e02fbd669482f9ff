// Makes the screenshots of the README as vector images: prints the page to a PDF, and converts the PDF to an SVG. Needs Chromium
// and pdftocairo (Debian: poppler-utils): npm run build && node docs/images/make.mjs
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { chromium } from 'playwright-core'
import { optimize } from 'svgo'

const root = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'petstore-images-'))
const server = spawn(process.execPath, [join(root, 'dist/cli.js'), 'serve', '--port', '3000'])
let browser
let address
try {
  for await (const line of createInterface({ input: server.stdout })) {
    address ??= /^Open (\S+) in a browser/.exec(line)?.[1]
    if (line.startsWith('Ctrl-C')) break
  }
  browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--headless', '--no-sandbox'] })
  await makeImage('page-light', 1280, 'light', 'The live view of petstore serve', async (page) => {
    await page.getByLabel('Name', { exact: true }).fill('Tiger')
    await page.getByRole('button', { name: 'Add animal' }).click()
    await page.getByText('Tiger was added with the id 9.').waitFor()
    await page.getByText('Sold', { exact: true }).first().click()
    await page.getByText('returned 2 animals').waitFor()
  })
  await makeImage('page-dark-narrow', 390, 'dark', 'The live view on a phone, with the limit reached', async (page) => {
    await page.getByRole('button', { name: 'Send requests until the limit' }).click()
    await page.getByText('The limit is reached').waitFor()
    await page.getByRole('region', { name: 'Requests' }).evaluate((card) => card.remove())
  })
} finally {
  await browser?.close()
  server.kill()
  rmSync(folder, { recursive: true })
}

async function makeImage(name, width, colorScheme, title, prepare) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme })
  const page = await context.newPage()
  await page.emulateMedia({ media: 'screen', colorScheme })
  await page.goto(address)
  await page.getByText('of 60 left').waitFor()
  await prepare(page)
  await page.evaluate(() => {
    // A soft shadow would become a bitmap, and a box that clips its text would repeat its outline for each letter.
    document.documentElement.style.setProperty('--shadow', 'none')
    for (const { style } of document.querySelectorAll('pre')) {
      style.overflow = 'visible'
      style.maxHeight = 'none'
    }
  })
  const height = await page.evaluate(() => document.documentElement.scrollHeight)
  const pdf = join(folder, `${name}.pdf`)
  const svg = join(folder, `${name}.svg`)
  // One pixel more than the page, so that rounding does not start a second sheet. The view box cuts the pixel off.
  await page.pdf({ path: pdf, width: `${width + 1}px`, height: `${height + 1}px`, printBackground: true })
  execFileSync('pdftocairo', ['-svg', '-f', '1', '-l', '1', pdf, svg])
  const { data } = optimize(readFileSync(svg, 'utf8'), { multipass: true, floatPrecision: 2 })
  const size = `width="${width}" height="${height}" viewBox="0 0 ${width * 0.75} ${height * 0.75}"`
  const image = data.replace(
    / width="[^"]*" height="[^"]*" viewBox="[^"]*"([^>]*)>/,
    ` ${size}$1><title>${title}</title>`,
  )
  writeFileSync(join(import.meta.dirname, `${name}.svg`), image)
  console.log(`${name}.svg: ${width} x ${height}, ${Math.ceil(image.length / 1000)} kB`)
}
