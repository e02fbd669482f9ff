import { type Html, html } from './html.ts'
import { code, table } from './parts.ts'

/**
 * Supports what the descriptions of the OpenAPI document use: paragraphs, headings, lists, tables,
 * code and backslash escapes (CommonMark, sections 2.4 and 6.1).
 */
export function markdown(text: string): Html[] {
  const blocks = text.split(/\n{2,}/).filter((block) => block.trim() !== '')
  return blocks.map((block) => {
    const lines = block.split('\n')
    const heading = /^#{1,6} (.*)$/.exec(block)?.[1]
    if (heading !== undefined) return html`<h3>${inline(heading)}</h3>`
    if (lines.every((line) => line.startsWith('- ')))
      return html`<ul>${lines.map((line) => html`<li>${inline(line.slice(2))}</li>`)}</ul>`
    if (lines.length > 1 && lines.every((line) => line.startsWith('|'))) return tableOf(lines)
    return html`<p>${inline(lines.join(' '))}</p>`
  })
}

/** Returns the HTML of one paragraph of Markdown, without the element `<p>` around it. */
export function inline(text: string): Html[] {
  const pieces = text.match(/`[^`]*`|\\[!-/:-@[-`{-~]|[^`\\]+|[`\\]/g) ?? []
  return pieces.map((piece) => {
    if (piece.length > 1 && piece.startsWith('`')) return code(piece.slice(1, -1))
    return html`${piece.length === 2 && piece.startsWith('\\') ? piece.slice(1) : piece}`
  })
}

function tableOf([head = '', , ...rows]: readonly string[]): Html {
  const cells = (row: string) =>
    row
      .slice(1, row.endsWith('|') ? -1 : undefined)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim())
  return table(
    'Table',
    cells(head),
    rows.map((row) => cells(row).map(inline)),
  )
}
