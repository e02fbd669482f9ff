import { PetStoreError } from '../errors.ts'

export async function hexDigest(algorithm: 'SHA-1' | 'SHA-256', bytes: BufferSource): Promise<string> {
  const { subtle } = crypto
  if (subtle === undefined)
    throw new PetStoreError(
      'internal_error',
      `crypto.subtle, which computes ${algorithm}, is missing: expected Node, Bun, Deno, Workers or a page over HTTPS; jsdom and a ` +
        "page over plain HTTP have none. In a test, use the memory back end, or replace crypto by webcrypto of 'node:crypto'.",
    )
  const digest = await subtle.digest(algorithm, bytes)
  return hexOf(new Uint8Array(digest))
}

export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
