import { isInt64 } from './json.ts'

/** Written into every cursor, so that one of another layout is told apart when the layout changes. */
const VERSION = '1'

/** An opaque text that stands for "after this id". Base64 of digits, colon and minus holds neither `+` nor `/`. */
export function encodeCursor(after: bigint): string {
  const text = btoa(`${VERSION}:${after}`)
  const padding = text.indexOf('=')
  return padding === -1 ? text : text.slice(0, padding)
}

/** The id that a cursor stands for; `undefined` for any text that {@link encodeCursor} does not write. */
export function decodeCursor(cursor: string): bigint | undefined {
  const [version, id] = decode(cursor).split(':')
  if (version !== VERSION || id === undefined || !/^-?\d{1,19}$/.test(id)) return undefined
  const after = BigInt(id)
  return isInt64(after) && encodeCursor(after) === cursor ? after : undefined
}

function decode(cursor: string): string {
  try {
    return atob(cursor)
  } catch {
    return ''
  }
}
