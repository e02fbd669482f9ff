import { shorten } from './describe-value.ts'

/** Invisible characters, and those that change how a terminal or a page shows other text. */
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}]/gu
/** Matches a token of this package, or at least its first 20 characters. In a whole token, `_` may be escaped, such as `&#95;`. */
const TOKEN = /pet_[0-9A-Za-z]{16}\w*|pet[^\s/]{1,16}?[0-9A-Za-z]{49}\w*/gi
/** Matches a visible ASCII character in percent-encoding (RFC 3986, section 2.1) or as a JSON escape. */
const ENCODED = /(?:%|\\u00)(2[1-9a-f]|[3-6][0-9a-f]|7[0-9a-e])/gi
/** How many encodings of a token are removed: `%5f` is the first of `_`, and `%255f` the second. */
const MAX_ENCODINGS = 3
/** The characters of one that is encoded twice, such as `%25%35%66` for `_`. */
const ENCODED_LENGTH = 9
const TOKEN_LENGTH = 53
/** A shorter text is not masked: it is hardly a secret, and occurs in many words. */
const MIN_SECRET_LENGTH = 8

/** Writes invisible and control characters as escapes, such as `\u001b`. */
export function escapeHidden(text: string): string {
  const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return text.replace(HIDDEN, (character) => character.split('').map(escapeUnit).join(''))
}

/** Returns how much of a text {@link readableText} reads, in UTF-16 code units: more than `length`, to find a token at the cut. */
export function readLength(length: number, secrets: readonly string[] = []): number {
  return length + ENCODED_LENGTH * Math.max(TOKEN_LENGTH, ...secrets.map((secret) => secret.length))
}

/**
 * Returns the first `length` UTF-16 code units of a text, and masks `secrets`, tokens, encoded tokens, and credentials in URLs. Use
 * it only for text that becomes JSON, because control characters stay. The time is linear in `length`.
 */
export function withoutSecrets(text: string, length: number, secrets: readonly string[] = []): string {
  const read = readLength(length, secrets)
  const safe = masked(text.slice(0, read), secrets)
  if (text.length <= read) return shorten(safe, length)
  // Drop the end of what was read: it may be the first half of a secret. If nothing was masked, `length` drops it anyway.
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
  const plain = decoded(text)
  let safe = plain
  for (const secret of secrets) {
    if (secret.length >= MIN_SECRET_LENGTH) safe = safe.replaceAll(decoded(secret), '***')
  }
  // After `secrets`: this pattern may match the first half of a secret that follows a token.
  safe = safe.replace(TOKEN, 'pet_***')
  return withoutPasswords(safe === plain ? text : safe)
}

function decoded(text: string): string {
  let plain = text
  for (let i = 0; i < MAX_ENCODINGS; i++)
    plain = plain.replace(ENCODED, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
  return plain
}

/** Masks the credentials before the `@` of a URL, with or without scheme. */
function withoutPasswords(text: string): string {
  if (!text.includes('@')) return text
  return text.replace(/[^\s'"]+/g, (word) => {
    // A file URL in a stack trace has no password, but `@` occurs in package names.
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
