import { works } from '../load/works.mjs'
import { checkServer } from './check.mjs'
import { cpuTime, memoryOf, withServers } from './processes.mjs'
import { median, ratioOf, ratioText, shuffled } from './statistics.mjs'

/** The longest time that `warmUp` lasts, in milliseconds. */
const LONGEST_WARM_UP = 2_000

const keyOf = (name, { work, connections }) => `${name} ${work} ${connections}`

/**
 * Compares the servers of a group in several cases `{ work, connections }`. The servers are measured by turns in short bursts, in
 * random order, so that a slow moment of the machine affects all of them. Each server runs in several processes, because the same
 * code is faster in one process than in another. Prints a table for each case, and returns one result per server and case.
 */
export async function compareServers(group, cases, { load, settings }) {
  const samples = new Map()
  for (let process = 0; process < settings.processes; process++) {
    await withServers(shuffled(group.servers), async (running) => {
      for (const server of running) await checkServer(server)
      for (const one of cases) await measure({ load, settings, running, one, samples, process })
    })
  }
  return cases.flatMap((one) => summarize(group, one, samples))
}

async function measure({ load, settings, running, one, samples, process }) {
  const requests = new Map()
  for (const server of running) {
    requests.set(server, await works[one.work](server))
    const key = keyOf(server.name, one)
    if (!samples.has(key)) samples.set(key, { cpu: [], rate: [], memory: [] })
    const all = samples.get(key)
    all.cpu[process] = []
    all.rate[process] = []
    await load.connected(server, requests.get(server), one.connections, ({ run }) => warmUp(run, settings))
  }
  // Round 0 is not counted: after the wait for the warm-up of the others, the first burst of every server takes up to three times as long.
  for (let round = 0; round <= settings.rounds; round++) {
    for (const server of shuffled(running)) {
      const all = samples.get(keyOf(server.name, one))
      await load.connected(server, requests.get(server), one.connections, async ({ run }) => {
        const before = cpuTime(server.pid)
        const { count, seconds } = await run(settings.burst)
        if (round === 0) return
        all.cpu[process].push((cpuTime(server.pid) - before) / count)
        all.rate[process].push(count / seconds)
      })
    }
  }
  for (const server of running) samples.get(keyOf(server.name, one)).memory.push(memoryOf(server.pid))
}

/** Sends a number of requests, because code is compiled after a number of calls and not after a time. Slow servers get fewer. */
export async function warmUp(run, settings) {
  const until = performance.now() + LONGEST_WARM_UP
  for (let left = settings.warmUp; left > 0 && performance.now() < until; ) left -= (await run(settings.burst)).count
}

function summarize(group, one, samples) {
  const [base] = group.servers
  const { work, connections } = one
  const { metric = 'cpu' } = group
  const compared = metric === 'cpu' ? 'CPU time' : 'rate'
  console.log(`\n${group.name}, ${work}, ${connections} connections: CPU time per request, ${compared} of ${base.name}`)
  return group.servers.map(({ name }) => {
    const { cpu, rate, memory } = samples.get(keyOf(name, one))
    const ratio = ratioOf({ cpu, rate }[metric], samples.get(keyOf(base.name, one))[metric])
    const cost = median(cpu.flat()).toFixed(1).padStart(7)
    const rates = `${median(rate.flat()).toFixed(0).padStart(7)}/s  ${median(memory).toFixed(0).padStart(4)} MB`
    console.log(`  ${name.padEnd(32)} ${cost} us  ${ratioText(ratio).padEnd(22)} ${rates}`)
    return {
      group: group.name,
      name,
      work,
      connections,
      cpu: rounded(cpu, 100),
      rate: rounded(rate, 1),
      memory: Math.round(median(memory)),
    }
  })
}

/** Keeps the file of the results small. */
const rounded = (samples, by) => samples.map((rounds) => rounds.map((value) => Math.round(value * by) / by))
