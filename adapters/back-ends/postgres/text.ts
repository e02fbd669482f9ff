/**
 * Returns an SQL expression for a text column with a full stop in front. Otherwise, PGlite would remove U+FEFF at the beginning
 * of a text, as if it were a byte order mark.
 */
export function guarded(column: string): string {
  return `'.' || ${column}`
}

/** Removes the full stop that `guarded` has added. */
export function unguarded(text: string): string {
  return text.slice(1)
}
