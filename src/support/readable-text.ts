import { shorten } from './describe-value.ts'
import { wellFormed } from './text.ts'

/** Invisible characters, and those that change how a terminal or a page shows other text. */
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}]/gu
/**
 * Matches a token of this package, which has 53 characters, or a longer text that begins like one.
 */
const TOKEN = /pet_\w{16,200}/g
/** Matches the first part of a token at the end of a text. */
const TOKEN_START = /pet_\w{0,15}$/
/** A shorter text is not masked: it is hardly a secret, and occurs in many words. */
const MIN_SECRET_LENGTH = 6
/**
 * The first part of a secret is masked at the end of a text if it has at least this many
 * characters.
 */
const MIN_SECRET_START = 4
/**
 * Matches a URL after its scheme, up to white space. File URLs do not match: in a stack trace, an
 * `@` in a file URL belongs to the name of a package.
 */
const AFTER_SCHEME = /(?<!file:\/?)\/\/\S+/g
const MASK = '***'

/** Writes invisible and control characters as escapes, such as `\u001b`. */
export function escapeHidden(text: string): string {
  const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return text.replace(HIDDEN, (character) => character.split('').map(escapeUnit).join(''))
}

/**
 * Returns the first `length` UTF-16 code units of a text. Masks `secrets`, tokens, and the
 * credentials in URLs, but only as they stand: an encoded secret is not found. Use this function
 * only for text that becomes JSON, because control characters stay. The time is linear in `length`.
 */
export function withoutSecrets(text: string, length: number, secrets: readonly string[] = []): string {
  const isCut = text.length > length
  const known = secrets.filter((secret) => secret.length >= MIN_SECRET_LENGTH)
  const whole = known.reduce((safe, secret) => safe.replaceAll(secret, MASK), text.slice(0, length))
  // Mask tokens after secrets: if a secret follows a token, `TOKEN` may match half of the secret,
  // and the other half would stay.
  const safe = (isCut ? withoutSecretStart(whole, known) : whole).replace(TOKEN, `pet_${MASK}`)
  if (!isCut) return withoutPasswords(safe, false)
  return wellFormed(`${withoutPasswords(safe.replace(TOKEN_START, `pet_${MASK}`), true)}…`)
}

/**
 * Returns a text as {@link withoutSecrets} does, on one line: line breaks and other control
 * characters become escapes.
 */
export function readableText(text: string, length: number, secrets?: readonly string[]): string {
  return shorten(escapeHidden(wellFormed(withoutSecrets(text, length, secrets))), length)
}

/** Returns a text as {@link readableText} does, but keeps line breaks and tabs. */
export function readableLines(text: string, length: number, secrets?: readonly string[]): string {
  const lines = wellFormed(withoutSecrets(text, length, secrets))
    .replaceAll('\r\n', '\n')
    .split('\n')
  const readable = lines.map((line) => line.split('\t').map(escapeHidden).join('\t'))
  return shorten(readable.join('\n'), length)
}

/** Masks the first part of a secret at the end of a text that has been cut. */
function withoutSecretStart(text: string, secrets: readonly string[]): string {
  for (const secret of secrets)
    for (let length = secret.length - 1; length >= MIN_SECRET_START; length--)
      if (text.endsWith(secret.slice(0, length))) return text.slice(0, -length) + MASK
  return text
}

/**
 * Masks user names and passwords in URLs: the text between `//` and the last `@` before white
 * space, whatever quotation marks it contains. If the text has been cut in the middle of a URL, a
 * password may end after the cut, so its first part is masked too.
 */
function withoutPasswords(text: string, isCut: boolean): string {
  return text.replace(AFTER_SCHEME, (url: string, offset: number) => {
    const isHalf = isCut && offset + url.length === text.length
    const end = isHalf ? url.length : url.lastIndexOf('@')
    if (end === -1) return url
    const [authority = ''] = url.slice(2).split('/', 1)
    const isSecret = authority.includes('@') || url.slice(0, end).includes(':')
    return isSecret ? `//${MASK}${url.slice(end)}` : url
  })
}
