import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/**
 * Returns a secret for a URL that the terminal prints. The IP address of a connection does not show who sends a request: a proxy on
 * this machine may forward a request of another machine.
 */
export function newSecret(): string {
  return randomBytes(18).toString('base64url')
}

/** The comparison takes equally long for each wrong secret, so nobody can guess the secret from response times. */
export function isSecret(received: string | undefined, secret: string): boolean {
  const hashOf = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(hashOf(received ?? ''), hashOf(secret))
}
