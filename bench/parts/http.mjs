import { groups, OURS, RUNTIMES, withEarlier } from '../contestants/index.mjs'
import { WALKED } from '../load/works.mjs'
import { compareServers } from '../support/compare.mjs'

/** The measurements on servers with 1,000 animals. `WALKS` are measured on servers with many more animals. */
const CASES = [
  { work: 'list', connections: 32, isPaced: true },
  { work: 'varied', connections: 32 },
  { work: 'changing', connections: 32 },
  { work: 'create', connections: 32, isPaced: true },
  { work: 'mix', connections: 32 },
  { work: 'list', connections: 1 },
  { work: 'create', connections: 1 },
]
const WALKS = ['walk 20', 'walk 100'].map((work) => ({ work, connections: 32 }))
const SHORT = ['list', 'create'].map((work) => ({ work, connections: 32 }))

/** Measures every server: CPU time and latency per request, requests per second, and memory. */
export async function http(context) {
  const { isQuick, only } = context.settings
  const results = []
  const compare = async (group, cases) => results.push(...(await compareServers(group, cases, context)))
  for (const group of groups.filter(({ name }) => !only || name === only)) {
    const isRuntime = RUNTIMES.includes(group.name)
    const all = { ...group, servers: withEarlier(group.servers, isRuntime ? [OURS] : [], context.settings) }
    await compare(all, isRuntime && !isQuick ? CASES : SHORT)
    const env = { BENCH_PETS: String(WALKED) }
    if (isRuntime) await compare({ ...all, servers: all.servers.map((server) => ({ ...server, env })) }, WALKS)
  }
  return results
}
