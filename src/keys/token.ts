const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const PREFIX = 'pet_'
const SECRET_LENGTH = 43
const CHECKSUM_LENGTH = 6
/** The prefix, and the 49 digits of secret and checksum. */
const TOKEN = /^pet_[0-9A-Za-z]{49}$/

/** A new token: 256 bits of randomness in base62, and a checksum by which a mistyped one is refused without a look-up. */
export function newToken(): string {
  const secret = PREFIX + base62(randomInteger(32), SECRET_LENGTH)
  return secret + checksum(secret)
}

/** A new id of a key: 96 bits of randomness. */
export function newKeyId(): string {
  return `key_${base62(randomInteger(12), 17)}`
}

/**
 * Whether a text has the form of a token and its checksum is right.
 *
 * @example
 * ```ts
 * import { isToken } from 'petstore-kit'
 *
 * console.log(isToken('letmein')) // false
 * ```
 */
export function isToken(text: string): boolean {
  const secret = text.slice(0, -CHECKSUM_LENGTH)
  return TOKEN.test(text) && text === secret + checksum(secret)
}

/**
 * What stores keep of a token: its SHA-256, in hexadecimal.
 *
 * @example
 * ```ts
 * import { hashToken } from 'petstore-kit'
 *
 * console.log((await hashToken('letmein')).length) // 64
 * ```
 */
export async function hashToken(token: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function randomInteger(bytes: number): bigint {
  const random = crypto.getRandomValues(new Uint8Array(bytes))
  return random.reduce((value, byte) => value * 256n + BigInt(byte), 0n)
}

function base62(value: bigint, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest /= 62n) text = DIGITS[Number(rest % 62n)] + text
  return text
}

/** The CRC-32 of ISO 3309, in base62. */
function checksum(text: string): string {
  let crc = 0xffffffff
  for (let i = 0; i < text.length; i++) {
    crc ^= text.charCodeAt(i)
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return base62(BigInt(~crc >>> 0), CHECKSUM_LENGTH)
}
