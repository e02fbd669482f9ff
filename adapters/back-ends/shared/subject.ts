import { hexDigest } from '../../../src/support/hex-digest.ts'

const PLAIN_LENGTH = 200
const HASHED = 'sha256:'

/**
 * Returns the text under which a database stores a subject. A subject that is too long for an index, or contains U+0000 or a lone
 * surrogate, is replaced by its hash.
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
  // `Uint16Array.from(subject)` would drop the second half of each surrogate pair.
  const units = Uint16Array.from({ length: subject.length }, (_, index) => subject.charCodeAt(index))
  return HASHED + (await hexDigest('SHA-256', units))
}
