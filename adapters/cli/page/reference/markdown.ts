import { type Html, html } from '../html.ts'

/**
 * Returns a text in Markdown as HTML: paragraphs, headings, lists, tables, code and backslash escapes (CommonMark, sections 2.4 and
 * 6.1). Descriptions of the OpenAPI document use nothing else.
 *
 * @param level - the level of the headings
 */
export function markdown(text: string, level = 3): Html[] {
  const blocks = text.split(/\n{2,}/).filter((block) => block.trim() !== '')
  return blocks.map((block) => {
    const lines = block.split('\n')
    const heading = /^#{1,6} (.*)$/.exec(block)?.[1]
    if (heading !== undefined)
      return level === 2 ? html`<h2>${inline(heading)}</h2>` : html`<h3>${inline(heading)}</h3>`
    if (lines.every((line) => line.startsWith('- ')))
      return html`<ul>${lines.map((line) => html`<li>${inline(line.slice(2))}</li>`)}</ul>`
    if (lines.length > 1 && lines.every((line) => line.startsWith('|'))) return table(lines)
    return html`<p>${inline(lines.join(' '))}</p>`
  })
}

/** Returns one paragraph of Markdown without its element. */
export function inline(text: string): Html[] {
  const pieces = text.match(/`[^`]*`|\\[!-/:-@[-`{-~]|[^`\\]+|[`\\]/g) ?? []
  return pieces.map((piece) => {
    if (piece.length > 1 && piece.startsWith('`')) return html`<code>${piece.slice(1, -1)}</code>`
    return html`${piece.length === 2 && piece.startsWith('\\') ? piece.slice(1) : piece}`
  })
}

function table([head = '', , ...rows]: readonly string[]): Html {
  const cells = (row: string) =>
    row
      .slice(1, row.endsWith('|') ? -1 : undefined)
      .split(/(?<!\\)\|/)
      .map((cell) => inline(cell.trim()))
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>
<thead><tr>${cells(head).map((cell) => html`<th scope="col">${cell}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${cells(row).map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody>
</table></div>`
}
