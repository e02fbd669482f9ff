/** An entry of a file: its place for messages, and its value, or why it cannot be read. */
export type Entry =
  | { readonly place: string; readonly value: unknown; readonly problem?: undefined }
  | { readonly place: string; readonly problem: string }

/** The longest entry, in UTF-16 code units. A file without line breaks would fill the memory. */
export const LONGEST = 1_048_576

export function requireShort(text: string): string {
  if (text.length <= LONGEST) return text
  throw new Error(`expected entries of at most ${LONGEST.toLocaleString('en')} characters: is this the right format?`)
}
