import * as Plot from '@observablehq/plot'
import { figures, groupNamed, integer, number } from './figures.mjs'
import { colorOf, svgOf } from './svg.mjs'

/** The kinds of work, with the titles that the chart shows. */
const WORKS = {
  list: 'first page of 20',
  'walk 20': 'new pages of 20',
  'walk 100': 'new pages of 100',
  create: 'create',
}

/** Returns the charts by the names of their files. */
export const chartsOf = (results) => ({
  'performance-node': cpuChart(results),
  'performance-scale': scaleChart(results),
})

const margins = ({ top, bottom, left, right = 16 }) => ({
  marginTop: top,
  marginBottom: bottom,
  marginLeft: left,
  marginRight: right,
})

/** CPU time per request: one row of bars for each server, and one column for each kind of work. */
function cpuChart(results) {
  const { cpu } = figures(results)
  const { servers } = groupNamed('Node')
  const bars = servers.flatMap(({ name }) =>
    Object.entries(WORKS).map(([work, title]) => ({ name, title, cpu: cpu('Node', name, work) })),
  )
  return svgOf('CPU time per request on Node.js, in microseconds: shorter is better', {
    ...margins({ top: 66, bottom: 10, left: 130 }),
    height: 76 + servers.length * 26,
    x: { axis: null, domain: [0, Math.max(...bars.map((bar) => bar.cpu)) * 1.35] },
    fx: { axis: 'top', label: null, domain: Object.values(WORKS), padding: 0.08 },
    y: { label: null, domain: servers.map(({ name }) => name), tickSize: 0 },
    marks: [
      Plot.barX(bars, { x: 'cpu', y: 'name', fx: 'title', fill: colorOf, rx: 2, insetTop: 2, insetBottom: 2 }),
      Plot.text(bars, { x: 'cpu', y: 'name', fx: 'title', text: (bar) => number(bar.cpu), textAnchor: 'start', dx: 5 }),
    ],
  })
}

/** The time of a list for each number of animals, and the time to count one request for each number of keys. */
function scaleChart({ parts: { scale } }) {
  const title = 'Time in microseconds in memory, by the number of animals or keys'
  const lines = [
    ...scale.animals.map(({ count, pages }) => ({ what: 'list, slowest page', count, time: Math.max(...pages) })),
    ...scale.keys.map(({ count, time }) => ({ what: 'count of a request', count, time })),
  ]
  const last = lines.filter((one, i) => lines[i + 1]?.what !== one.what)
  const color = (one) => (one.what.startsWith('list') ? 'var(--ours)' : 'var(--limit)')
  return svgOf(title, {
    ...margins({ top: 50, bottom: 34, left: 60, right: 150 }),
    height: 280,
    x: { type: 'log', label: null, ticks: 6, tickFormat: integer },
    y: { label: null, grid: true, zero: true, nice: true },
    marks: [
      Plot.line(lines, { x: 'count', y: 'time', z: 'what', stroke: color, strokeWidth: 2 }),
      Plot.dot(lines, { x: 'count', y: 'time', r: 3, fill: color }),
      Plot.text(last, { x: 'count', y: 'time', text: 'what', textAnchor: 'start', dx: 10, fill: color }),
    ],
  })
}
