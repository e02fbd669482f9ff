import { parseInt64 } from './int64.ts'

/** The version of the cursor format, at the start of each cursor. A later format can have another number. */
const VERSION = '1'

/** Returns the cursor for the animals after this id: Base64 of `1:7`, whose characters need no escapes in a URL. */
export function encodeCursor(after: bigint): string {
  return btoa(`${VERSION}:${after}`).replaceAll('=', '')
}

/** Returns the id in a cursor, or `undefined` for any text that {@link encodeCursor} does not return. */
export function decodeCursor(cursor: string): bigint | undefined {
  try {
    const after = parseInt64(atob(cursor).slice(VERSION.length + 1))
    // Encode the id again: the result differs if the cursor has another version, separator or padding.
    if (after !== undefined && encodeCursor(after) === cursor) return after
  } catch {
    // The text is not Base64.
  }
  return undefined
}
