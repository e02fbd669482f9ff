import { groups, OURS } from '../contestants/index.mjs'
import { median, ratioOf } from '../support/statistics.mjs'

/** Finds figures in the results of the benchmark. */
export function figures({ parts }) {
  const http = (group, name, work, connections = 32) => {
    const found = parts.http.find(
      (one) => one.group === group && one.name === name && one.work === work && one.connections === connections,
    )
    if (!found) throw new Error(`the results have no ${work} of ${name} in ${group} at ${connections} connections`)
    return found
  }
  return { http, cpu: (...of) => median(http(...of).cpu.flat()) }
}

const cpuOf = (work, name = work, connections = 32) => ({
  name: `${name}, µs`,
  work,
  connections,
  value: ({ cpu }) => median(cpu.flat()),
  ratio: (ours, theirs) => ratioOf(ours.cpu, theirs.cpu).ratio,
})
const figureOf = (work, key, nameOf) => ({
  name: nameOf,
  work,
  connections: 32,
  value: (one) => one[key],
  ratio: (ours, theirs) => ours[key] / theirs[key],
})
const paced = (work) => figureOf(work, 'p99', ({ pace }) => `p99 of ${work} at ${integer(pace)}/s, µs`)

/** The rows of a table that compares servers. Less is better. `ratio` divides the figure of petstore-kit by another server's. */
export const measures = [
  ...['list', 'varied', 'walk 20', 'walk 100', 'changing', 'create', 'mix'].map((work) => cpuOf(work)),
  cpuOf('list', 'list, 1 connection', 1),
  cpuOf('create', 'create, 1 connection', 1),
  paced('list'),
  paced('create'),
  figureOf('list', 'memory', 'memory, MB'),
  figureOf('list', 'start', 'start, ms'),
]

/** Returns a group of servers by its name. */
export const groupNamed = (group) => groups.find(({ name }) => name === group)
/** Returns the name of a server, in bold for petstore-kit. */
export const emphasized = (name) => (name === OURS ? `**${name}**` : name)

/** Returns a table in Markdown. */
export function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

/** Returns a number with about three significant digits. */
export const number = (value) =>
  value >= 100 || Number.isInteger(value) ? integer(value) : value.toFixed(value >= 10 ? 1 : 2)
export const integer = (value) => Math.round(value).toLocaleString('en')
