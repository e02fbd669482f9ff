/**
 * A column of text as a statement returns it: with a full stop before it.
 *
 * A driver may take U+FEFF at the beginning of a text for the mark of an encoding and drop it, as PGlite does.
 */
export function guarded(column: string): string {
  return `'.' || ${column}`
}

/** Takes the full stop away. */
export function unguarded(text: string): string {
  return text.slice(1)
}
