import { shorten } from './describe-value.ts'

/** Invisible characters, and those that change how a terminal or a page shows other text. */
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}]/gu
/** Matches a token of this package, even if only its first 20 characters are there. In a whole token, `_` may be `&#95;`. */
const TOKEN = /pet_[0-9A-Za-z]{16}\w*|pet[^\s/]{1,16}?[0-9A-Za-z]{49}\w*/gi
/** Matches an escaped ASCII character, as in URLs, in JSON and JavaScript, or in HTML. */
const ESCAPE =
  /(?:%u00|%|\\+u00|\\+x)([0-7][0-9a-f])|(?:\\+u\{|&#x)0*([0-7]?[0-9a-f])[};]|&#0*(1[01]\d|12[0-7]|\d\d?);|&amp;/gi
/** A text may have been escaped this many times in a row: `A` becomes `%41`, then `%2541`, and so on. */
const MAX_ESCAPINGS = 4
/** The length of one character that is percent-encoded three times. */
const ENCODED_LENGTH = 27
const TOKEN_LENGTH = 53
/** A shorter text is not masked: it is hardly a secret, and occurs in many words. */
const MIN_SECRET_LENGTH = 8

/** Writes invisible and control characters as escapes, such as `\u001b`. */
export function escapeHidden(text: string): string {
  const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return text.replace(HIDDEN, (character) => character.split('').map(escapeUnit).join(''))
}

/** Returns how many UTF-16 code units to read to show `length`: a secret that begins in the shown part may end after it. */
export function readLength(length: number, secrets: readonly string[] = []): number {
  return length + ENCODED_LENGTH * Math.max(TOKEN_LENGTH, ...secrets.map((secret) => secret.length))
}

/**
 * Returns the first `length` UTF-16 code units of a text, and masks `secrets`, tokens, encoded tokens, and credentials in URLs.
 * Masking may also decode or remove escapes in the rest of the text. Use this function only for text that becomes JSON, because
 * control characters stay. The time is linear in `length`.
 */
export function withoutSecrets(text: string, length: number, secrets: readonly string[] = []): string {
  const read = readLength(length, secrets)
  const safe = masked(text.slice(0, read), secrets)
  if (text.length <= read) return shorten(safe, length)
  // The cut may leave half a secret at the end of `safe`, and masking may shorten `safe`. Drop its last `read - length` units.
  return `${safe.slice(0, Math.max(0, Math.min(length, safe.length - read + length)))}…`.toWellFormed()
}

/** Returns a text as {@link withoutSecrets} does, on one line: line breaks and other control characters become escapes. */
export function readableText(text: string, length: number, secrets?: readonly string[]): string {
  return shorten(escapeHidden(withoutSecrets(text, length, secrets).toWellFormed()), length)
}

/** Returns a text as {@link readableText} does, but keeps line breaks and tabs. */
export function readableLines(text: string, length: number, secrets?: readonly string[]): string {
  const lines = withoutSecrets(text, length, secrets).toWellFormed().split(/\r?\n/)
  const readable = lines.map((line) => line.split('\t').map(escapeHidden).join('\t'))
  return shorten(readable.join('\n'), length)
}

function masked(text: string, secrets: readonly string[]): string {
  const withoutAll = (text: string, secrets: readonly string[]) =>
    secrets.reduce((safe, one) => (one.length < MIN_SECRET_LENGTH ? safe : safe.replaceAll(one, '***')), text)
  // Mask secrets before decoding, too: in the text `%41abc…` with the secret `1abc…`, decoding `%41` would change the secret.
  const known = withoutAll(text, secrets)
  const plain = decoded(known)
  // Mask tokens last: if a secret follows a token, `TOKEN` may match half of the secret, and the other half would stay.
  const safe = withoutAll(plain, secrets.map(decoded)).replace(TOKEN, 'pet_***')
  return withoutPasswords(safe === plain ? known : safe)
}

/**
 * Decodes escapes (`%2541` becomes `A`) and removes backslashes. Escapes of spaces and control characters are removed too:
 * otherwise, a token with such an escape inside would not be found and masked.
 */
function decoded(text: string): string {
  let plain = text
  for (let i = 0; i < MAX_ESCAPINGS; i++)
    plain = plain.replace(ESCAPE, (whole, hex?: string, shortHex?: string, decimal?: string) => {
      if (whole === '&amp;') return '&'
      const code = decimal === undefined ? Number.parseInt(hex ?? shortHex ?? '', 16) : Number(decimal)
      return code > 32 && code < 127 ? String.fromCharCode(code) : ''
    })
  return plain.replaceAll('\\', '')
}

/** Masks the credentials before the `@` of a URL, with or without scheme. */
function withoutPasswords(text: string): string {
  if (!text.includes('@')) return text
  return text.replace(/[^\s'"]+/g, (word) => {
    // Do not mask file URLs, such as those in stack traces: `@` belongs to the name of a package there, not to a password.
    const start = word.search(/(?<!file):\/\//)
    const end = word.lastIndexOf('@')
    const known = start !== -1 && start < end ? `${word.slice(0, start + 3)}***${word.slice(end)}` : word
    return known.split('/').map(withoutPassword).join('/')
  })
}

function withoutPassword(segment: string): string {
  const end = segment.lastIndexOf('@')
  const colon = segment.indexOf(':', 1)
  return colon !== -1 && colon + 1 < end ? `***${segment.slice(end)}` : segment
}
