import { groups, OURS, withEarlier } from '../contestants/index.mjs'
import { works } from '../load/works.mjs'
import { warmUp } from '../support/compare.mjs'
import { withServers } from '../support/processes.mjs'
import { median, shuffled } from '../support/statistics.mjs'

const CONNECTIONS = 64
/** Each server is measured this many times in each process. The median leaves out a run with one long pause of the machine. */
const RUNS = 4

/** Measures the latency of each server at half of its peak rate: the rate at which users run a server, not the highest. */
export async function latency(context) {
  const results = []
  for (const group of groups.filter(({ name }) => ['Node', 'Bun', 'Deno'].includes(name))) {
    const samples = new Map()
    const servers = withEarlier(group.servers, [OURS], context.settings)
    for (let process = 0; process < context.settings.processes; process++) {
      await withServers(shuffled(servers), async (running) => {
        for (const work of ['list', 'create'])
          for (const server of shuffled(running)) await measure(context, server, work, samples)
      })
    }
    for (const work of ['list', 'create']) results.push(...summarize(group.name, servers, work, samples))
  }
  return results
}

async function measure({ load, settings }, server, work, samples) {
  const requests = works[work](server)
  const result = await load.connected(server, requests, CONNECTIONS, async ({ run, pace }) => {
    await warmUp(run, settings)
    const { count, seconds } = await run(settings.burst * 4)
    const rate = count / seconds / 2
    const runs = []
    while (runs.length < RUNS) runs.push({ rate, ...(await pace(rate, settings.burst * 8)) })
    return runs
  })
  const key = `${server.name} ${work}`
  samples.set(key, [...(samples.get(key) ?? []), ...result])
}

function summarize(group, servers, work, samples) {
  console.log(`\n${group}, ${work} at half of the peak rate, ${CONNECTIONS} connections: latency in microseconds`)
  return servers.map(({ name }) => {
    const all = samples.get(`${name} ${work}`)
    const of = (key) => Math.round(median(all.map((sample) => sample[key])))
    const result = {
      group,
      name,
      work,
      rate: of('rate'),
      p50: of('p50'),
      p90: of('p90'),
      p99: of('p99'),
      p999: of('p999'),
    }
    const columns = ['p50', 'p90', 'p99', 'p999'].map((key) => `${key} ${String(result[key]).padStart(6)}`)
    console.log(`  ${name.padEnd(32)} ${String(result.rate).padStart(7)}/s  ${columns.join('  ')}`)
    return { ...result, p99s: all.map(({ p99 }) => Math.round(p99)) }
  })
}
