/**
 * Returns an expression for a text column with a full stop in front. PGlite drops U+FEFF at the beginning of a text, since it
 * takes it for a byte order mark.
 */
export function guarded(column: string): string {
  return `'.' || ${column}`
}

/** Removes the full stop. */
export function unguarded(text: string): string {
  return text.slice(1)
}
