import { shorten } from './describe-value.ts'

/** Characters that change what a terminal or a page shows around them: control characters, line separators, text direction. */
const HIDDEN = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu

/** Returns the first `length` UTF-16 code units of a text for people to read, with hidden characters as escapes such as `\u001b`. */
export function readableText(text: string, length: number): string {
  // Cut first, so that the work is bounded, and again, because escapes are longer than their characters.
  return shorten(shorten(text, length).replace(HIDDEN, escaped), length)
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
