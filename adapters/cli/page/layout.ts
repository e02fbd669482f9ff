import { type Html, type HtmlValue, html } from './html.ts'

export interface Page {
  readonly path: string
  readonly title: string
  /** The style sheets that only this page needs. */
  readonly styles: readonly string[]
  readonly head: Html
  /** Must contain an element `#main`, the target of the link that skips the navigation. */
  readonly content: Html
}

const LINKS = { '/': 'Live view', '/reference': 'API reference', '/console': 'Console', '/openapi.json': 'OpenAPI' }

/** @param hasConsole - whether Swagger UI is installed */
export function layout({ path, title, styles, head, content }: Page, hasConsole: boolean): string {
  const links = Object.entries(LINKS).filter(([href]) => hasConsole || href !== '/console')
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${title}</title>
    <link rel="icon" href="/page/icon.svg" />
    ${['page', 'controls', ...styles].map((name) => html`<link rel="stylesheet" href="/page/${name}.css" />`)}
    ${head}
  </head>
  <body>
    <a class="skip" href="#main" data-goto="#main">Skip to the content</a>
    <header class="top">
      <div class="row">
        <a class="brand" href="/"><img src="/page/icon.svg" alt="" width="26" height="26" />Pet store</a>
        <nav aria-label="Pages">
          ${links.map(([href, text]) => html`<a href="${href}"${href === path ? html` aria-current="page"` : ''}>${text}</a>`)}
        </nav>
      </div>
    </header>
    ${content}
  </body>
</html>
`.text
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

/** Returns a table. On a narrow screen, each row becomes a block, and each cell shows the head of its column. */
export function table(label: string, head: readonly string[], rows: readonly (readonly HtmlValue[])[]): Html {
  const cell = (content: HtmlValue, i: number) => html`<td data-label="${head[i] ?? ''}">${content}</td>`
  return html`<table class="rows" aria-label="${label}">
<thead><tr>${head.map((text) => html`<th scope="col">${text}</th>`)}</tr></thead>
<tbody>${rows.map((cells) => html`<tr>${cells.map(cell)}</tr>`)}</tbody>
</table>`
}
