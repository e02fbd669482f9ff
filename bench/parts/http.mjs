import { groups, OURS, withEarlier } from '../contestants/index.mjs'
import { WORKS } from '../load/works.mjs'
import { compareServers } from '../support/compare.mjs'

/** These groups are also measured at these numbers of connections, with these kinds of work. */
const MORE = { groups: ['Node', 'Bun', 'Deno'], connections: [1, 256], works: ['list', 'create'] }

/** Measures every server with every kind of work: CPU time per request, requests per second, and memory. */
export async function http(context) {
  const results = []
  for (const group of groups) {
    const { name, servers } = group
    // The mock servers have no goal.
    const ours = name === 'Mock servers' ? [] : [OURS]
    const all = { ...group, servers: withEarlier(servers, ours, context.settings) }
    results.push(...(await compareServers(all, casesOf(group, context.settings), context)))
  }
  return results
}

function casesOf({ name, works: own = WORKS }, { works: chosen, isQuick }) {
  const kinds = own.filter((work) => chosen.includes(work))
  const cases = kinds.map((work) => ({ work, connections: 32 }))
  if (isQuick || !MORE.groups.includes(name)) return cases
  for (const work of MORE.works) for (const connections of MORE.connections) cases.push({ work, connections })
  return cases
}
