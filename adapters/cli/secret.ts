import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/**
 * Returns a secret, which is part of an address that the terminal prints. The address of the connection is not enough: a proxy on
 * this machine may forward a request of another machine.
 */
export function newSecret(): string {
  return randomBytes(18).toString('base64url')
}

/** The time of the comparison does not depend on the secret. */
export function isSecret(received: string | undefined, secret: string): boolean {
  const hashOf = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(hashOf(received ?? ''), hashOf(secret))
}
