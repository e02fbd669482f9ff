import { ICON } from './assets.ts'
import { type Html, type HtmlValue, html } from './html.ts'

/** Returns the bar at the top: the name, links to pages, and the switch for light and dark. */
export function topBar(
  home: { readonly href: string; readonly title: string },
  links: readonly (readonly [href: string, text: string])[],
  current: string,
): Html {
  const attribute = (href: string) => (href === current ? html` aria-current="page"` : '')
  return html`<a class="skip" href="#main" data-goto="#main">Skip to the content</a>
    <header class="top">
      <div class="row">
        <a class="brand" href="${home.href}"><img src="${ICON}" alt="" width="26" height="26" />${home.title}</a>
        <nav aria-label="Pages">
          ${links.map(([href, text]) => html`<a href="${href}"${attribute(href)}>${text}</a>`)}
          <button type="button" class="theme small" aria-pressed="false" hidden>Dark</button>
        </nav>
      </div>
    </header>`
}

/** Returns radio buttons that look like one divided button. */
export function segments(name: string, legend: string, options: readonly (readonly [string, string])[]): Html {
  return html`<fieldset class="segments" id="${name}">
  <legend class="visually-hidden">${legend}</legend>
  ${options.map(
    ([value, text], i) =>
      html`<label><input type="radio" name="${name}" value="${value}"${i === 0 ? html` checked` : ''} /><span>${text}</span></label>`,
  )}
</fieldset>`
}

export function table(label: string, head: readonly string[], rows: readonly (readonly HtmlValue[])[]): Html {
  return html`<table aria-label="${label}">
<thead><tr>${head.map((text) => html`<th scope="col">${text}</th>`)}</tr></thead>
<tbody>${rows.map((cells) => html`<tr>${cells.map((content) => html`<td>${content}</td>`)}</tr>`)}</tbody>
</table>`
}

/** A documented name: a parameter, a header or a member of a body. */
interface Entry {
  readonly name: string
  /** The type and the bounds, in words. */
  readonly value: string
  readonly meaning: HtmlValue
}

/** Returns a list of names with meanings. In a narrow container, meanings move below names. */
export function entries(label: string, list: readonly Entry[]): Html {
  return html`<dl class="entries" aria-label="${label}">
${list.map(({ name, value, meaning }) => html`<div><dt><code>${name}</code> <span class="small">${value}</span></dt><dd>${meaning}</dd></div>`)}
</dl>`
}

/** Returns a code in which browsers may break the line after each underscore. */
export function code(text: string): Html {
  const [first = '', ...others] = text.split(/(?<=_)/)
  return html`<code>${first}${others.map((part) => html`<wbr />${part}`)}</code>`
}
