import type { LoggedRequest } from '../request-log.ts'
import type { DemoKey } from '../routes.ts'

/** The settings that the server sends to its page, and the requests that it got. */
export interface Settings {
  readonly basePath: string
  /** Whether this tab has the secret of the page's address. Without it, the server sends no demo keys, usage and requests. */
  readonly hasSecret: boolean
  /** The demo keys; empty if the server does not allow this browser to see them. */
  readonly demoKeys: readonly DemoKey[]
  /** The requests after those that the page knows, the oldest first. */
  readonly requests: readonly LoggedRequest[]
}

/** The name under which `sessionStorage` keeps the secret of the page's address until the tab is closed. */
const SECRET = 'petstore.secret'

/** The fragment of an address with a secret. A link with any other fragment must not replace the secret of the tab. */
const SECRET_FRAGMENT = /^#[\w-]{24}$/

/** Takes the secret out of the address, which may be copied or shown to others. */
export function takeSecret(): void {
  if (SECRET_FRAGMENT.test(location.hash)) {
    sessionStorage.setItem(SECRET, location.hash.slice(1))
    history.replaceState(history.state, '', location.pathname + location.search)
  }
  // If the visitor enters an address with another secret, the browser does not load the page again.
  addEventListener('hashchange', () => {
    if (SECRET_FRAGMENT.test(location.hash)) location.reload()
  })
}

/** Returns whether this tab was opened with a secret. The secret is useless after the server has been started again. */
export function hadSecret(): boolean {
  return sessionStorage.getItem(SECRET) !== null
}

/** Returns the header that shows the server that this tab was opened with the secret. */
export function secretHeader(): Record<string, string> {
  return { 'Petstore-Secret': sessionStorage.getItem(SECRET) ?? '' }
}

/** How long the server may take for its settings, in milliseconds. */
const TIMEOUT = 5_000

/**
 * Loads the settings of the page.
 *
 * @param after - the id of the last request that the page knows
 * @throws {Error} if the server does not respond with settings
 */
export async function loadSettings(after = 0): Promise<Settings> {
  const signal = AbortSignal.timeout(TIMEOUT)
  const response = await fetch(`/page/settings.json?after=${after}`, { headers: secretHeader(), signal })
  if (!response.ok) throw new Error(`expected settings, got status ${response.status}`)
  return response.json()
}

/**
 * The names under which `sessionStorage` keeps the visitor's choice until the tab is closed. The choice is stored nowhere else.
 */
const PLAN = 'petstore.plan'
const KEY = 'petstore.key'

/** Returns the key that the visitor has chosen in this tab, otherwise the first demo key. */
export function currentKey({ demoKeys }: Pick<Settings, 'demoKeys'>): string {
  // A server in memory issues new demo keys at each start, so the choice of a demo key is stored as its plan.
  const plan = sessionStorage.getItem(PLAN)
  const demo = demoKeys.find((key) => key.plan === plan) ?? demoKeys[0]
  return sessionStorage.getItem(KEY) ?? demo?.token ?? ''
}

/** Stores the visitor's choice of a key for this tab. */
export function keepKey(token: string, { demoKeys }: Pick<Settings, 'demoKeys'>): void {
  const demo = demoKeys.find((key) => key.token === token)
  sessionStorage.removeItem(KEY)
  if (demo) sessionStorage.setItem(PLAN, demo.plan)
  else if (token !== '') sessionStorage.setItem(KEY, token)
}
