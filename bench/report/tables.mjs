import { groups, OURS, RUNTIMES } from '../contestants/index.mjs'
import { median, ratioOf, ratioText } from '../support/statistics.mjs'
import { emphasized, figures, groupNamed, integer, measures, number, table } from './figures.mjs'

/** A row for each measure and a column for each server. In brackets: our figure divided by theirs. */
export function runtimeTable(results, group) {
  const { http } = figures(results)
  const { servers } = groupNamed(group)
  const rows = measures.map(({ name, work, connections, value, ratio }) => {
    const ours = http(group, OURS, work, connections)
    const cells = servers.map((server) => {
      const one = http(group, server.name, work, connections)
      // A bare server loads our library to record our responses, so its memory and start time would mislead.
      if (server.does === 'bytes' && /memory|start/.test(name)) return ''
      return number(value(one)) + (one === ours ? '' : ` (${ratio(ours, one).toFixed(2)})`)
    })
    return [typeof name === 'string' ? name : name(ours), ...cells]
  })
  return table(['', ...servers.map(({ name }) => emphasized(name))], rows)
}

/** Lists, for each server that does the whole job, the measures in which this server is better than ours. */
export function betterServers(results) {
  const { http } = figures(results)
  return RUNTIMES.flatMap((group) => {
    const rivals = groupNamed(group).servers.filter(({ name, does }) => does === 'all' && name !== OURS)
    return rivals.flatMap(({ name: rival }) => {
      const losses = measures
        .map(({ name, work, connections, ratio }) => {
          const [ours, theirs] = [OURS, rival].map((server) => http(group, server, work, connections))
          const text = typeof name === 'string' ? name : name(ours)
          return { text: text.replace(/, [^,]*$/, ''), ratio: ratio(ours, theirs) }
        })
        .filter((one) => one.ratio >= 1.005)
        .sort((a, b) => b.ratio - a.ratio)
        .map((one) => `${one.text} ${one.ratio.toFixed(2)}`)
      return losses.length > 0 ? [`- **${rival} on ${group}**: ${losses.join(', ')}`] : []
    })
  }).join('\n')
}

/** The CPU time of a list and of a create, on our other hosts and in mock servers. In brackets: ours divided by the server's. */
export function otherTable(results) {
  const { http, cpu } = figures(results)
  const rows = groups
    .filter(({ name }) => !RUNTIMES.includes(name))
    .flatMap(({ name: group, servers }) =>
      servers.map(({ name }) => {
        const cells = ['list', 'create'].map((work) => {
          const [ours, theirs] = [OURS, name].map((server) => http(group, server, work).cpu)
          const ratio = name === OURS ? '' : ` (${ratioOf(ours, theirs).ratio.toFixed(2)})`
          return number(cpu(group, name, work)) + ratio
        })
        return [group, emphasized(name), ...cells]
      }),
    )
  return table(['', 'Server', 'list, µs', 'create, µs'], rows)
}

/** Returns a text about the memory that an animal and the counts of customers take. */
export function memoryText({ parts: { scale } }) {
  const of = (all, count) => all.find((one) => one.count === count)
  const counts = integer(of(scale.keys, 100_000).bytes / 1024 / 1024)
  const animal = integer(of(scale.animals, 1_000_000).bytes)
  return `An animal takes ${animal} bytes beyond its name, and the counts of 100,000 keys take ${counts} MiB.`
}

export function engineTable({ parts: { engines, writes } }) {
  const rows = engines
    .filter(({ name }) => name === OURS)
    .map(({ group, work, rate, base }) => {
      const bare = base ?? engines.find((one) => one.group === group && one.work === work && one.name !== OURS).rate
      return [group, work, ...[bare, rate].map((all) => integer(median(all.flat()))), ratioText(ratioOf(rate, bare))]
    })
  for (const { way, delay, driver, kit, ...ratio } of writes) {
    const slow = delay > 0 ? `, each commit ${delay} ms slower` : ''
    const work = `create ${way}, 4 processes${slow}`
    rows.push(['PostgreSQL', work, integer(driver), integer(kit), ratioText(ratio)])
  }
  return table(['Engine', 'Work', 'Bare driver, per second', 'petstore-kit', 'Ratio: higher is better'], rows)
}
