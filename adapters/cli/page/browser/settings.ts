/** The settings that the server sends to its page. */
export interface Settings {
  readonly basePath: string
  /** Whether this tab has the secret of the page's address. Without it, the server sends neither demo keys nor the usage. */
  readonly hasSecret: boolean
  /** The demo keys; empty if the server does not allow this browser to see them. */
  readonly demoKeys: readonly { readonly plan: string; readonly token: string }[]
}

/** The name under which `sessionStorage` keeps the secret of the page's address until the tab is closed. */
const SECRET = 'petstore.secret'

/** Loads the settings of the page. Takes the secret out of the address, which may be copied or shown to others. */
export async function loadSettings(): Promise<Settings> {
  if (location.hash.length > 1) sessionStorage.setItem(SECRET, location.hash.slice(1))
  history.replaceState(null, '', location.pathname + location.search)
  // If the visitor enters an address with another secret, the browser does not load the page again.
  addEventListener('hashchange', () => location.reload())
  return (await fetch('/page/settings.json', { headers: secretHeader() })).json()
}

/** Returns the header that shows the server that this tab was opened with the secret. */
export function secretHeader(): Record<string, string> {
  return { 'Petstore-Secret': sessionStorage.getItem(SECRET) ?? '' }
}

/**
 * The names under which `sessionStorage` keeps the visitor's choice until the tab is closed. The choice is stored nowhere else.
 */
const PLAN = 'petstore.plan'
const KEY = 'petstore.key'

/** Returns the key that the visitor has chosen in this tab, otherwise the first demo key. */
export function currentKey({ demoKeys }: Settings): string {
  // A server in memory issues new demo keys at each start, so the choice of a demo key is stored as its plan.
  const plan = sessionStorage.getItem(PLAN)
  const demo = demoKeys.find((key) => key.plan === plan) ?? demoKeys[0]
  // The empty key is kept in a tab that was opened without the secret.
  return sessionStorage.getItem(KEY) || (demo?.token ?? '')
}

/** Stores the visitor's choice of a key for this tab. */
export function keepKey(token: string, { demoKeys }: Settings): void {
  const demo = demoKeys.find((key) => key.token === token)
  sessionStorage.removeItem(demo ? KEY : PLAN)
  if (demo) sessionStorage.setItem(PLAN, demo.plan)
  else sessionStorage.setItem(KEY, token)
}
