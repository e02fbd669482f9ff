import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/**
 * Returns a secret for a URL that the terminal prints: only people who can read the terminal can use the URL. Checking the IP
 * address of the connection is not enough, because a proxy on this machine may forward the requests of other machines.
 */
export function newSecret(): string {
  return randomBytes(18).toString('base64url')
}

/** The comparison takes equally long for each wrong secret, so nobody can guess the secret from response times. */
export function isSecret(received: string | undefined, secret: string): boolean {
  const hashOf = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(hashOf(received ?? ''), hashOf(secret))
}

interface SecretFlags {
  readonly databaseUrl?: string
  readonly redisUrl?: string
  readonly key?: string | readonly { readonly token: string }[]
  readonly limitedKey?: string
}

/** Returns the secrets in the flags of a command, which no output may contain: the passwords of URLs, and the tokens of keys. */
export function secretsOf({ key = [], limitedKey, databaseUrl, redisUrl }: SecretFlags): string[] {
  const tokens = [key, limitedKey ?? []].flat().map((one) => (typeof one === 'string' ? one : one.token))
  return [...tokens, ...[databaseUrl, redisUrl].flatMap(passwordsOf)]
}

/** Returns the passwords in a URL, as they stand there and decoded. */
export function passwordsOf(url: string | undefined): string[] {
  if (url === undefined || !URL.canParse(url)) return []
  const { password, searchParams } = new URL(url)
  return [password, decoded(password), searchParams.get('password') ?? ''].filter((text) => text !== '')
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
