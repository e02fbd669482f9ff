export class Html {
  readonly text: string

  constructor(parts: readonly string[], values: readonly HtmlValue[]) {
    this.text = parts.map((part, i) => part + (i < values.length ? textOf(values[i] ?? '') : '')).join('')
  }
}

export type HtmlValue = string | number | Html | readonly Html[]

/** A tag for templates. Texts and numbers are escaped; `Html` is inserted unchanged. */
export function html(parts: TemplateStringsArray, ...values: HtmlValue[]): Html {
  return new Html(parts, values)
}

/** Returns HTML that is inserted unchanged. The text must be a part of this program. */
export function raw(text: string): Html {
  return new Html([text], [])
}

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
