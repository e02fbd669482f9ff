import * as Plot from '@observablehq/plot'
import { parseHTML } from 'linkedom'
import { OURS } from '../contestants/index.mjs'

/** The colours of the charts, in light and in dark mode. A chart draws its own background: a page may have no dark mode. */
const LIGHT = '--back:#fff;--ink:#1f2328;--ours:#0969da;--other:#afb8c1;--limit:#57606a'
const DARK = '--back:#0d1117;--ink:#f0f6fc;--ours:#4493f8;--other:#6e7681;--limit:#d1d7e0'
const STYLE = `svg{${LIGHT};color:var(--ink)}
@media (prefers-color-scheme:dark){svg{${DARK}}}
text{font-family:system-ui,sans-serif;white-space:pre}`

/** Returns the colour of a server in the charts: one for ours, one for bare handlers (the upper limit), one for all others. */
export const colorOf = ({ name }) =>
  name === OURS ? 'var(--ours)' : name.startsWith('bare') ? 'var(--limit)' : 'var(--other)'

/** Draws a chart with Observable Plot, and returns it as an SVG document with a title. */
export function svgOf(title, options) {
  const { document } = parseHTML('<html></html>')
  const svg = Plot.plot({ document, width: 760, style: { fontSize: '13px' }, ...options })
  for (const style of svg.querySelectorAll('style')) style.remove()
  svg.setAttribute('xmlns', 'http://www.w3.org/2000/svg')
  for (const name of ['class', 'style']) svg.removeAttribute(name)
  svg.setAttribute('font-size', '13')
  svg.setAttribute('role', 'img')
  const create = (tag, text, attributes = {}) => {
    const element = document.createElementNS('http://www.w3.org/2000/svg', tag)
    element.textContent = text
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
    return element
  }
  const back = create('rect', '', { width: '100%', height: '100%', rx: '6', fill: 'var(--back)' })
  const heading = create('text', title, { x: '16', y: '26', 'text-anchor': 'start', 'font-weight': '600' })
  svg.prepend(create('title', title), create('style', STYLE), back, heading)
  return `${shortened(svg.outerHTML)}\n`
}

/** Rounds coordinates, and removes what the drawing does not need. */
const shortened = (text) =>
  text
    .replaceAll(/="[^"]*"/g, (value) =>
      value.replaceAll(/\d+\.\d{2,}/g, (digits) => String(Math.round(digits * 10) / 10)),
    )
    .replaceAll(/ (?:aria-label|class)="[^"]*"/g, '')
