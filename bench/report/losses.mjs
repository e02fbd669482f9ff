import { groups } from '../contestants/index.mjs'
import { bases, figures, spread, table, workNames } from './figures.mjs'

/** Lists where a server that does the whole job is better than ours, the greatest loss first. */
export function losses(results) {
  const { ratio, http, latency, ours } = figures(results)
  const found = []
  const add = (measure, rival, work, value, text = value.toFixed(2)) => {
    if (value >= 1.005) found.push({ value, row: [measure, rival, work, text] })
  }
  for (const group of groups.filter(({ name }) => name in bases)) {
    const rivals = group.servers.filter(({ name, does }) => does === 'all' && !name.startsWith(ours))
    for (const { name } of rivals) {
      const rival = `${name} on ${group.name}`
      for (const { work, connections } of results.parts.http.filter(
        (one) => one.group === group.name && one.name === name,
      )) {
        const one = ratio(group.name, ours, name, work, connections)
        add(
          'CPU time',
          rival,
          `${workNames[work]}, ${connections === 1 ? '1 connection' : `${connections} connections`}`,
          one.ratio,
          spread(one),
        )
      }
      for (const work of ['list', 'create']) {
        const value = latency(group.name, ours, work).p99 / latency(group.name, name, work).p99
        add('p99 at half of the peak rate', rival, workNames[work], value)
      }
      add('Memory', rival, 'list', http(group.name, ours, 'list').memory / http(group.name, name, 'list').memory)
    }
  }
  if (found.length === 0) return 'In this run, there is none.'
  const rows = found.sort((a, b) => b.value - a.value).map(({ row }) => row)
  return table(['Measure', 'Server', 'Work', 'Ours, as a ratio'], rows)
}
