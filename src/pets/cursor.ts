import { parseInt64 } from '../model.ts'

/** The version of the cursor format. Every cursor contains it, so that a later format can be distinguished. */
const VERSION = '1'

/** Returns an opaque cursor for the animals after this id. Base64 of digits, `:` and `-` needs no escaping in a URL. */
export function encodeCursor(after: bigint): string {
  return btoa(`${VERSION}:${after}`).replace(/=+$/, '')
}

/** Returns the id in a cursor, or `undefined` for any text that {@link encodeCursor} does not return. */
export function decodeCursor(cursor: string): bigint | undefined {
  try {
    const after = parseInt64(atob(cursor).slice(VERSION.length + 1))
    // Encoding the id again checks the version, the separator and the padding.
    if (after !== undefined && encodeCursor(after) === cursor) return after
  } catch {
    // The text is not Base64.
  }
  return undefined
}
