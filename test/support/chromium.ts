import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, chromium, type Page } from 'playwright-core'
import { HANG } from './deadline.ts'
import { findProgram } from './server-process.ts'

/** The path of Chromium or Chrome, or `undefined` if neither is on this machine. */
export const chromiumPath = findProgram('chromium') ?? findProgram('google-chrome')

/** Flags that let Chromium run without a display, and prevent requests that Chromium sends by itself. */
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: chromiumPath, args: FLAGS, timeout: HANG })
}

/** A page that records its faults. */
export interface WatchedPage {
  readonly page: Page
  /** Violations of the Content-Security-Policy, errors of scripts, and requests to other origins. */
  readonly faults: readonly string[]
}

/** Opens a page and starts to record its faults. */
export async function openPage(browser: Browser, url: string, width: number, colorScheme: 'light' | 'dark') {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme })
  context.setDefaultTimeout(HANG)
  const page = await context.newPage()
  const faults: string[] = []
  const { origin } = new URL(url)
  page.on('pageerror', (error) => faults.push(error.message))
  // Chromium logs an error for each response with an error status. Some tests cause such responses, so ignore these logs.
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) faults.push(message.text())
  })
  page.on('request', (request) => {
    const requested = new URL(request.url())
    if (requested.origin !== origin && requested.protocol !== 'data:') faults.push(`request to ${requested.origin}`)
  })
  await page.exposeFunction('reportViolation', (text: string) => faults.push(text))
  await page.addInitScript(() => {
    const { reportViolation } = window as unknown as { reportViolation(text: string): void }
    addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      reportViolation(`${violatedDirective} has blocked ${blockedURI}`),
    )
  })
  await page.goto(url)
  return { page, faults } satisfies WatchedPage
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Returns the violations that axe finds, each with its first element. */
export async function axeFindings(page: Page): Promise<string[]> {
  // `evaluate` runs axe through the debugger, where the Content-Security-Policy of the page does not apply.
  await page.evaluate(axe)
  return page.evaluate(async () => {
    const { axe } = window as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> }
    }
    // A colour that is still changing may have too little contrast for a moment.
    for (const transition of document.getAnimations()) transition.cancel()
    return (await axe.run()).violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)
  })
}
