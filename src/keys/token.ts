import { hexDigest } from '../support/hex-digest.ts'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const PREFIX = 'pet_'
const SECRET_LENGTH = 43
const CHECKSUM_LENGTH = 6
const TOKEN = /^pet_[0-9A-Za-z]{49}$/

/**
 * Returns a new token: 256 random bits in base62, and a checksum. A mistyped token is rejected
 * without a look-up.
 */
export function newToken(): string {
  const secret = PREFIX + base62(randomInteger(32), SECRET_LENGTH)
  return secret + checksum(secret)
}

const TIME_LENGTH = 9
const RANDOM_LENGTH = 8
/** How many ids there are for one millisecond. */
const IDS = 62n ** BigInt(RANDOM_LENGTH)

/**
 * Returns a function that returns a new key id for a time in milliseconds since the Unix epoch. Ids in the
 * order of their characters are in the order of these times. Each id is greater than the one before, also within one
 * millisecond, and if the clock steps back.
 * @example
 * ```ts
 * import { newKeyIds } from 'petstore-kit/back-end'
 *
 * const newId = newKeyIds()
 * console.log(newId(Date.now()) < newId(Date.now())) // true
 * ```
 */
export function newKeyIds(): (now: number) => string {
  let latest = -1n
  return (now) => {
    const id = BigInt(Math.floor(now)) * IDS + (randomInteger(8) % IDS)
    latest = id > latest ? id : latest + 1n
    return `key_${base62(latest, TIME_LENGTH + RANDOM_LENGTH)}`
  }
}

/**
 * Returns whether a text has the form of a token of this package, but not its checksum. Such a token is mistyped, so no
 * look-up is needed.
 * @example
 * ```ts
 * import { isMistyped } from 'petstore-kit/back-end'
 *
 * console.log(isMistyped('letmein')) // false
 * ```
 */
export function isMistyped(token: string): boolean {
  const secret = token.slice(0, -CHECKSUM_LENGTH)
  return TOKEN.test(token) && token !== secret + checksum(secret)
}

/**
 * Returns the SHA-256 of a token in hexadecimal, which databases store instead of the token.
 * @example
 * ```ts
 * import { hashToken } from 'petstore-kit/back-end'
 *
 * console.log((await hashToken('letmein')).length) // 64
 * ```
 */
export function hashToken(token: string): Promise<string> {
  return hexDigest('SHA-256', new TextEncoder().encode(token))
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

/** Returns the CRC-32 (ISO 3309) of a text, in base62. */
function checksum(text: string): string {
  let crc = 0xffffffff
  for (let i = 0; i < text.length; i++) {
    crc ^= text.charCodeAt(i)
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return base62(BigInt(~crc >>> 0), CHECKSUM_LENGTH)
}
