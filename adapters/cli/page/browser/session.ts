interface Session {
  /** The secret of the server. Without it, the server sends no demo keys, no usage and no log. */
  readonly secret: string
  /** The key that the visitor has chosen; empty for the first demo key. */
  readonly key: string
}

/** Matches a secret in the URL. Another fragment must not replace the secret. */
const SECRET_FRAGMENT = /^#[\w-]{24}$/

/**
 * The secret and the key, which a reload keeps. They are in the entry of the browser's history, where only this page can read them: the
 * script of the reference is of the same origin, so it could read `sessionStorage`.
 */
let session: Session = { secret: '', key: '', ...history.state }

/** Moves the secret from the URL into the session: the visitor may copy or show the URL. */
export function takeSecret(): void {
  if (SECRET_FRAGMENT.test(location.hash)) keep({ ...session, secret: location.hash.slice(1) })
  // Browsers do not reload the page if the visitor enters a URL with another secret.
  addEventListener('hashchange', () => {
    if (SECRET_FRAGMENT.test(location.hash)) location.reload()
  })
}

export function keepKey(key: string): void {
  keep({ ...session, key })
}

export function keptKey(): string {
  return session.key
}

/** Returns whether this page has a secret. It may be old: each start of the server creates a new one. */
export function hasSecret(): boolean {
  return session.secret !== ''
}

export function secretHeader(): Record<string, string> {
  return { 'Petstore-Secret': session.secret }
}

function keep(changed: Session): void {
  session = changed
  history.replaceState(session, '', location.pathname)
}
