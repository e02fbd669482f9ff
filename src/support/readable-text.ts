import { shorten } from './describe-value.ts'

/** Characters that change what a terminal or a page shows around them, or that nobody sees. */
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}]/gu
/**
 * A token of this package, and what is attached to it. A shorter text of this form is no secret. The underscore of a whole token may
 * be written in any way, such as `&#95;`.
 */
const TOKEN = /pet_[0-9A-Za-z]{16}\w*|pet[^\s/]{1,16}?[0-9A-Za-z]{49}\w*/gi
/** A visible ASCII character as a percent-encoding (RFC 3986, section 2.1), or as an escape of JSON. */
const ENCODED = /(?:%|\\u00)(2[1-9a-f]|[3-6][0-9a-f]|7[0-9a-e])/gi
/** How often a token may be encoded. A second encoding makes `%255f` of `%5f`. */
const MAX_ENCODINGS = 3
/** How many characters stand for one that is encoded twice, such as `%25%35%66` for `_`. */
const ENCODED_LENGTH = 9
const TOKEN_LENGTH = 53
/** A shorter text is no secret, and masking it would make other texts illegible. */
const MIN_SECRET_LENGTH = 8

/** Returns a text with escapes such as `\u001b` for hidden characters. */
export function escapeHidden(text: string): string {
  const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return text.replace(HIDDEN, (character) => character.split('').map(escapeUnit).join(''))
}

/** Returns how much of a text {@link readableText} reads, in UTF-16 code units: a token at the cut must be seen whole. */
export function readLength(length: number, secrets: readonly string[] = []): number {
  return length + ENCODED_LENGTH * Math.max(TOKEN_LENGTH, ...secrets.map((secret) => secret.length))
}

/**
 * Returns the first `length` UTF-16 code units of a text, without secrets: tokens, also encoded ones, and user names with passwords in
 * addresses are masked. Hidden characters stay, so this is for texts that become JSON. The time is linear in `length`.
 *
 * @param secrets - other texts to mask
 */
export function withoutSecrets(text: string, length: number, secrets: readonly string[] = []): string {
  const read = readLength(length, secrets)
  const safe = masked(text.slice(0, read), secrets)
  if (text.length <= read) return shorten(safe, length)
  // The end of a cut text may be the beginning of a secret. If nothing was masked, this end is beyond `length` anyway.
  return `${safe.slice(0, Math.max(0, Math.min(length, safe.length - read + length)))}…`.toWellFormed()
}

/** Returns a text as {@link withoutSecrets} does, on one line for people to read: hidden characters become escapes. */
export function readableText(text: string, length: number, secrets?: readonly string[]): string {
  return shorten(escapeHidden(withoutSecrets(text, length, secrets).toWellFormed()), length)
}

/** Returns a text as {@link readableText} does, with its line breaks and tabs. */
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
  // Last, because the pattern may match the beginning of a secret that follows a token.
  safe = safe.replace(TOKEN, 'pet_***')
  return withoutPasswords(safe === plain ? text : safe)
}

function decoded(text: string): string {
  let plain = text
  for (let i = 0; i < MAX_ENCODINGS; i++)
    plain = plain.replace(ENCODED, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
  return plain
}

/** Masks what stands before the `@` of an address, with or without scheme. */
function withoutPasswords(text: string): string {
  if (!text.includes('@')) return text
  return text.replace(/[^\s'"]+/g, (word) => {
    // The address of a file in a stack trace has no password, but `@` stands in names of packages.
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
