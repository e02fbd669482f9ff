/** Returns whether a text is a URL. `URL.canParse` is missing in jsdom 20, the one of Jest 29. */
export function isUrl(text: string, base?: string): boolean {
  try {
    return new URL(text, base) !== undefined
  } catch {
    return false
  }
}

/** Returns whether a text is an http or https URL without credentials, query and fragment. */
export function isHttpUrl(text: string): boolean {
  return /^https?:\/\/[^?#@/\\]+(?:\/[^?#]*)?$/i.test(text) && isUrl(text)
}

/** Replaces each lone surrogate by U+FFFD, as `toWellFormed` does, which React Native does not have. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd')
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
