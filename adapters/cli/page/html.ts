/** A piece of HTML, from a template. Each value that is not a piece of HTML is escaped. */
export class Html {
  readonly text: string

  constructor(parts: TemplateStringsArray, values: readonly HtmlValue[]) {
    this.text = parts.map((part, i) => part + (i < values.length ? textOf(values[i] ?? '') : '')).join('')
  }
}

export type HtmlValue = string | number | Html | readonly Html[]

/** Returns HTML: `` html`<p>${text}</p>` ``. Values may be texts, which are escaped, pieces of HTML, and lists of pieces. */
export function html(parts: TemplateStringsArray, ...values: HtmlValue[]): Html {
  return new Html(parts, values)
}

/** No HTML. */
export const nothing = html``

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function textOf(value: HtmlValue): string {
  if (value instanceof Html) return value.text
  if (typeof value === 'object') return value.map(({ text }) => text).join('')
  return String(value).replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '')
}
