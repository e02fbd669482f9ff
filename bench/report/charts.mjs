import * as Plot from '@observablehq/plot'
import { groups } from '../contestants/index.mjs'
import { bases, figures, integer, number, workNames } from './figures.mjs'
import { colorOf, svgOf } from './svg.mjs'

const WORKS = ['list', 'varied', 'create']

/** Returns the charts by the names of their files. */
export function chartsOf(results) {
  return {
    'performance-node': cpuChart(
      results,
      'Node',
      'CPU time per request on Node.js, in microseconds: shorter is better',
    ),
    'performance-bun': cpuChart(results, 'Bun', 'CPU time per request on Bun, in microseconds: shorter is better'),
    'performance-deno': cpuChart(results, 'Deno', 'CPU time per request on Deno, in microseconds: shorter is better'),
    'performance-latency': latencyChart(results),
    'performance-scale': scaleChart(results),
  }
}

const serversOf = (group) => groups.find(({ name }) => name === group).servers
const margins = ({ top, bottom, left, right = 16 }) => ({
  marginTop: top,
  marginBottom: bottom,
  marginLeft: left,
  marginRight: right,
})

/** Bars by server, with a column for each kind of work. */
function cpuChart(results, group, title) {
  const { cpu, ours } = figures(results)
  const servers = serversOf(group)
  const bars = servers.flatMap(({ name }) =>
    WORKS.map((work) => ({ name, work: workNames[work], cpu: cpu(group, name, work) })),
  )
  return svgOf(title, {
    ...margins({ top: 66, bottom: 10, left: 130 }),
    height: 76 + servers.length * 26,
    x: { axis: null, domain: [0, Math.max(...bars.map((bar) => bar.cpu)) * 1.25] },
    fx: { axis: 'top', label: null, domain: WORKS.map((work) => workNames[work]), padding: 0.08 },
    y: { label: null, domain: servers.map(({ name }) => name), tickSize: 0 },
    marks: [
      Plot.barX(bars, {
        x: 'cpu',
        y: 'name',
        fx: 'work',
        fill: (bar) => colorOf(bar, ours),
        rx: 2,
        insetTop: 2,
        insetBottom: 2,
      }),
      Plot.text(bars, { x: 'cpu', y: 'name', fx: 'work', text: (bar) => number(bar.cpu), textAnchor: 'start', dx: 5 }),
    ],
  })
}

/** Median and 99th percentile of each server. */
function latencyChart(results) {
  const { latency, ours } = figures(results)
  const title = 'Latency of a list at half of the peak rate, in microseconds: median and 99th percentile'
  const rows = Object.keys(bases).flatMap((group) =>
    serversOf(group).map(({ name }) => ({
      name,
      label: name === ours ? `${name} (${group})` : name,
      ...latency(group, name, 'list'),
    })),
  )
  return svgOf(title, {
    ...margins({ top: 40, bottom: 34, left: 150 }),
    height: 74 + rows.length * 24,
    x: { type: 'log', label: null, grid: true, ticks: 5, tickFormat: integer },
    y: { label: null, domain: rows.map(({ label }) => label), tickSize: 0 },
    marks: [
      Plot.link(rows, {
        x1: 'p50',
        x2: 'p99',
        y1: 'label',
        y2: 'label',
        stroke: (row) => colorOf(row, ours),
        strokeWidth: 3,
      }),
      Plot.dot(rows, {
        x: 'p50',
        y: 'label',
        r: 4,
        fill: 'var(--back)',
        stroke: (row) => colorOf(row, ours),
        strokeWidth: 2,
      }),
      Plot.dot(rows, { x: 'p99', y: 'label', r: 5, fill: (row) => colorOf(row, ours) }),
    ],
  })
}

/** The time of a list by the number of animals, and of a count by the number of keys. */
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
    y: { label: null, grid: true, zero: true },
    marks: [
      Plot.line(lines, { x: 'count', y: 'time', z: 'what', stroke: color, strokeWidth: 2 }),
      Plot.dot(lines, { x: 'count', y: 'time', r: 3, fill: color }),
      Plot.text(last, { x: 'count', y: 'time', text: 'what', textAnchor: 'start', dx: 10, fill: color }),
    ],
  })
}
