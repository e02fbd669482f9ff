import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/**
 * Returns a secret for one run of the server. It is part of an address that the terminal prints. A proxy on this machine may
 * hide that a request comes from another one, but it does not know the secret.
 */
export function newSecret(): string {
  return randomBytes(18).toString('base64url')
}

/** Returns whether a received text is the secret. The time of the comparison says nothing about the secret. */
export function isSecret(received: string | undefined, secret: string): boolean {
  const hashOf = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(hashOf(received ?? ''), hashOf(secret))
}
