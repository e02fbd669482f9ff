/** Returns whether a text is a URL. `URL.canParse` is missing in jsdom 20, the one of Jest 29. */
export function isUrl(text: string, base?: string): boolean {
  try {
    return new URL(text, base) !== undefined
  } catch {
    return false
  }
}

/**
 * Removes all `character`s from the end of a text. A pattern such as `/0+$/` would take quadratic
 * time for hostile texts.
 */
export function trimEndOf(text: string, character: string): string {
  let end = text.length
  while (text[end - 1] === character) end--
  return text.slice(0, end)
}
