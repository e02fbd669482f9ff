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
