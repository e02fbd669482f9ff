/** The settings that the server sends to its page. */
export interface Settings {
  readonly basePath: string
  /** The demo keys; empty if the server does not allow this browser to see them. */
  readonly demoKeys: readonly { readonly plan: string; readonly token: string }[]
}

/** Loads the settings of the page. */
export async function loadSettings(): Promise<Settings> {
  return (await fetch('/page/settings.json')).json()
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
  return sessionStorage.getItem(KEY) ?? demo?.token ?? ''
}

/** Stores the visitor's choice of a key for this tab. */
export function keepKey(token: string, { demoKeys }: Settings): void {
  const demo = demoKeys.find((key) => key.token === token)
  sessionStorage.removeItem(demo ? KEY : PLAN)
  if (demo) sessionStorage.setItem(PLAN, demo.plan)
  else sessionStorage.setItem(KEY, token)
}
