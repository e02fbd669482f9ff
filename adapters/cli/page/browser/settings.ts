/** The settings that the server sends to its page. */
export interface Settings {
  readonly basePath: string
  /** The demo keys; empty unless the server allows them for this browser. */
  readonly demoKeys: readonly { readonly plan: string; readonly token: string }[]
}

/** Loads the settings of the page. */
export async function loadSettings(): Promise<Settings> {
  return (await fetch('/page/settings.json')).json()
}

/** Where the choice of the visitor is kept until the tab is closed. It is never written elsewhere. */
const PLAN = 'petstore.plan'
const KEY = 'petstore.key'

/** Returns the key that the visitor has chosen in this tab, else the first demo key. */
export function currentKey({ demoKeys }: Settings): string {
  // A server in memory has new demo keys after each start, so the choice of one is kept by its plan.
  const plan = sessionStorage.getItem(PLAN)
  const demo = demoKeys.find((key) => key.plan === plan) ?? demoKeys[0]
  return sessionStorage.getItem(KEY) ?? demo?.token ?? ''
}

/** Keeps the choice of a key for this tab. */
export function keepKey(token: string, { demoKeys }: Settings): void {
  const demo = demoKeys.find((key) => key.token === token)
  sessionStorage.removeItem(demo ? KEY : PLAN)
  if (demo) sessionStorage.setItem(PLAN, demo.plan)
  else sessionStorage.setItem(KEY, token)
}
