import { isInt64 } from '../model.ts'

/** Part of every cursor, so that a cursor of another layout can be told apart later. */
const VERSION = '1'

/** Returns an opaque text for "the animals after this id". Base64 of digits, colon and minus contains neither `+` nor `/`. */
export function encodeCursor(after: bigint): string {
  return btoa(`${VERSION}:${after}`).replace(/=+$/, '')
}

/** Returns the id of a cursor, or `undefined` for any text that {@link encodeCursor} does not return. */
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
