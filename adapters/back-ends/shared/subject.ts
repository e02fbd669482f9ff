const PLAIN_LENGTH = 200
const HASHED = 'sha256:'

/**
 * The name under which an engine keeps the count of a subject.
 *
 * A subject is any string, and some strings no engine keeps apart: text that is too long for an index, holds U+0000 or a
 * lone surrogate. Those are kept under their hash.
 */
export function subjectName(subject: string): string | Promise<string> {
  const isPlain =
    subject.length <= PLAIN_LENGTH &&
    !subject.startsWith(HASHED) &&
    !subject.includes('\u0000') &&
    subject.isWellFormed()
  return isPlain ? subject : hashed(subject)
}

async function hashed(subject: string): Promise<string> {
  const units = Uint16Array.from(subject, (unit) => unit.charCodeAt(0))
  return HASHED + hex(await crypto.subtle.digest('SHA-256', units))
}

/** Bytes in hexadecimal. */
export function hex(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
