/** Returns whether a text is a URL. `URL.canParse` is missing in jsdom 20, the one of Jest 29. */
export function isUrl(text: string, base?: string): boolean {
  try {
    return new URL(text, base) !== undefined
  } catch {
    return false
  }
}
