import { isInt64 } from '../model.ts'

/** The version of the cursor format. Every cursor contains it, so that a later format can be distinguished. */
const VERSION = '1'

/** Returns an opaque cursor for the animals after this id. Base64 of digits, `:` and `-` needs no escaping in a URL. */
export function encodeCursor(after: bigint): string {
  return btoa(`${VERSION}:${after}`).replace(/=+$/, '')
}

/** Returns the id in a cursor, or `undefined` for any text that {@link encodeCursor} does not return. */
export function decodeCursor(cursor: string): bigint | undefined {
  const [version, id] = decodeBase64(cursor).split(':')
  if (version !== VERSION || id === undefined || !/^-?\d{1,19}$/.test(id)) return undefined
  const after = BigInt(id)
  return isInt64(after) && encodeCursor(after) === cursor ? after : undefined
}

function decodeBase64(text: string): string {
  try {
    return atob(text)
  } catch {
    return ''
  }
}
