import type { LoggedRequest } from '../request-log.ts'
import type { DemoKey } from '../routes.ts'

export interface Settings {
  readonly basePath: string
  /** How often a test has reset the store. */
  readonly resets: number
  /** Whether this tab knows the secret. Without it, the server sends no demo keys, usage or log. */
  readonly hasSecret: boolean
  /** Empty if this browser may not see the demo keys. */
  readonly demoKeys: readonly DemoKey[]
  /** The requests that are new to the page, the oldest first. */
  readonly requests: readonly LoggedRequest[]
}

const SECRET = 'petstore.secret'

/** Matches a secret in the URL. Another fragment, such as `#main`, must not replace the secret. */
const SECRET_FRAGMENT = /^#[\w-]{24}$/

/** Moves the secret from the URL to `sessionStorage`: the visitor may copy or show the URL. */
export function takeSecret(): void {
  if (SECRET_FRAGMENT.test(location.hash)) {
    sessionStorage.setItem(SECRET, location.hash.slice(1))
    history.replaceState(history.state, '', location.pathname + location.search)
  }
  // Browsers do not reload the page if the visitor enters a URL with another secret.
  addEventListener('hashchange', () => {
    if (SECRET_FRAGMENT.test(location.hash)) location.reload()
  })
}

/** Returns whether this tab has stored a secret. It may be old: each start creates a new one. */
export function hadSecret(): boolean {
  return sessionStorage.getItem(SECRET) !== null
}

export function secretHeader(): Record<string, string> {
  return { 'Petstore-Secret': sessionStorage.getItem(SECRET) ?? '' }
}

/** How long the server may take to send its settings, in milliseconds. */
const TIMEOUT = 5_000

/** @param after - the id of the last request that the page knows */
export async function loadSettings(after = 0): Promise<Settings> {
  const signal = AbortSignal.timeout(TIMEOUT)
  const response = await fetch(`/page/settings.json?after=${after}`, { headers: secretHeader(), signal })
  if (!response.ok) throw new Error(`expected settings, got status ${response.status}`)
  return response.json()
}

const PLAN = 'petstore.plan'
const KEY = 'petstore.key'

/** Returns the first demo key if the visitor has not chosen a key in this tab. */
export function currentKey({ demoKeys }: Pick<Settings, 'demoKeys'>): string {
  // A server in memory issues new demo keys at each start, so the plan of a chosen key is stored.
  const plan = sessionStorage.getItem(PLAN)
  const demo = demoKeys.find((key) => key.plan === plan) ?? demoKeys[0]
  return sessionStorage.getItem(KEY) ?? demo?.token ?? ''
}

export function keepKey(token: string, { demoKeys }: Pick<Settings, 'demoKeys'>): void {
  const demo = demoKeys.find((key) => key.token === token)
  sessionStorage.removeItem(KEY)
  if (demo) sessionStorage.setItem(PLAN, demo.plan)
  else if (token !== '') sessionStorage.setItem(KEY, token)
}
