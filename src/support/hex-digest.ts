export async function hexDigest(algorithm: 'SHA-1' | 'SHA-256', bytes: BufferSource): Promise<string> {
  const digest = await crypto.subtle.digest(algorithm, bytes)
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
