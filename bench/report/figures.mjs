import { OURS } from '../contestants/index.mjs'
import { median, ratioOf } from '../support/statistics.mjs'

/** Finds figures in the results of a run. */
export function figures({ parts }) {
  const http = (group, name, work, connections = 32) => {
    const found = parts.http.find(
      (one) => one.group === group && one.name === name && one.work === work && one.connections === connections,
    )
    if (!found) throw new Error(`the results have no ${work} of ${name} in ${group} at ${connections} connections`)
    return found
  }
  return {
    http,
    cpu: (group, name, work, connections) => median(http(group, name, work, connections).cpu.flat()),
    /** Returns the ratio of the CPU times of two servers of a group. */
    ratio: (group, name, base, work, connections) =>
      ratioOf(http(group, name, work, connections).cpu, http(group, base, work, connections).cpu),
    latency: (group, name, work) =>
      parts.latency.find((one) => one.group === group && one.name === name && one.work === work),
    handle: (runtime, work) => parts.handle.find((one) => one.runtime === runtime && one.work === work),
    animals: (count) => parts.scale.animals.find((one) => one.count === count),
    keys: (count) => parts.scale.keys.find((one) => one.count === count),
    ours: OURS,
  }
}

/** The base of each group: the handler that writes the same bytes and does none of the work. */
export const bases = { Node: 'bare node:http', Bun: 'bare Bun.serve', Deno: 'bare Deno.serve' }

export const workNames = {
  list: 'list',
  varied: 'varied list',
  create: 'create',
  mix: 'mix',
  401: '401',
  429: '429',
}

/** Returns a table in Markdown. */
export function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

/** Returns a number with about three significant digits. */
export const number = (value) => (value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2))
export const integer = (value) => Math.round(value).toLocaleString('en')
export const spread = ({ ratio, low, high }) => `${ratio.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`
