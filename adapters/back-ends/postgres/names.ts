import { textThat } from '../../../src/schemas/options.ts'
import { isStorable } from '../../../src/schemas/text.ts'

/** PostgreSQL cuts longer names without an error, so two different names could become equal. */
const NAME_BYTES = 63

export const schemaName = textThat(
  (name) =>
    name !== '' && !name.startsWith('pg_') && isStorable(name) && new TextEncoder().encode(name).length <= NAME_BYTES,
  `a name of 1 to ${NAME_BYTES} bytes that does not begin with "pg_"`,
)

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/**
 * Puts a text between two tags `$petstore$`. Adds `_` to the tags until the text contains nothing
 * that would end the quote.
 */
export function dollarQuoted(text: string): string {
  let tag = '$petstore$'
  while (`${text}${tag}`.indexOf(tag) < text.length) tag = tag.replace(/\$$/, '_$')
  return tag + text + tag
}
