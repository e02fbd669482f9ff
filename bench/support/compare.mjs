import { sendLoad } from '../load/client.mjs'
import { roundOf, works } from '../load/works.mjs'
import { checkServer } from './check.mjs'
import { memoryOf, withServers } from './processes.mjs'
import { median, ratioOf, ratioText, shuffled } from './statistics.mjs'

/** The longest time that `warmUp` lasts, in milliseconds. */
const LONGEST_WARM_UP = 1_500
/** The milliseconds of a round at a fixed rate. Other rounds are shorter, but the 99th percentile needs many requests. */
const PACED_ROUND = 1_000
/** For creates, the 99th percentiles of two rounds differ by up to 80 times: V8 collects the heap in some rounds only. */
const PACED_ROUNDS = 6

const keyOf = (name, { work, connections }) => `${name} ${work} ${connections}`

/**
 * Compares the servers of a group in several cases `{ work, connections, isPaced }`. The servers are measured by turns in short
 * rounds, in random order, so that a slow moment of the machine affects all of them. Each server runs in several processes, because
 * the same code is faster in one process than in another. Prints a table for each case, and returns one result per server and case.
 */
export async function compareServers(group, cases, { settings }) {
  const samples = new Map()
  for (let process = 0; process < settings.processes; process++) {
    await withServers(shuffled(group.servers), async (running) => {
      for (const server of running) await checkServer(server)
      for (const one of cases) await measure({ settings, group, running, one, samples, process })
    })
  }
  return cases.flatMap((one) => summarize(group, one, samples))
}

async function measure({ settings, group, running, one, samples, process }) {
  const send = (server, options) =>
    sendLoad([server], requests.get(server), {
      ...roundOf(one, settings),
      sharesProcessors: group.sharesProcessors,
      ...options,
    })
  const samplesOf = ({ name }) => samples.get(keyOf(name, one))
  const requests = new Map()
  for (const server of running) {
    requests.set(server, await works[one.work](server))
    const key = keyOf(server.name, one)
    if (!samples.has(key)) samples.set(key, { cpu: [], rate: [], memory: [], start: [], paced: [] })
    samples.get(key).cpu[process] = []
    samples.get(key).rate[process] = []
    samples.get(key).start.push(server.startedIn)
    await warmUp(() => send(server), settings)
  }
  // Round 0 is not counted: each server was idle while the others warmed up, and its first round takes up to three times as long.
  for (let round = 0; round <= settings.rounds; round++) {
    for (const server of shuffled(running)) {
      const { count, seconds, cpu } = await send(server)
      if (round === 0) continue
      samplesOf(server).cpu[process].push(cpu)
      samplesOf(server).rate[process].push(count / seconds)
    }
  }
  for (const server of running) samplesOf(server).memory.push(memoryOf(server.pid))
  if (!one.isPaced) return
  // The same rate for all. Otherwise, a faster server would have to respond to more requests in the same time.
  const rate = Math.floor(Math.min(...running.map((server) => median(samplesOf(server).rate[process]))) / 2)
  for (let round = 0; round < PACED_ROUNDS; round++)
    for (const server of shuffled(running))
      samplesOf(server).paced.push({ rate, ...(await send(server, { mode: 'paced', amount: PACED_ROUND, rate })) })
}

/** Warms up by a number of requests, not by a time: V8 compiles code after enough calls. Slow servers get fewer requests. */
async function warmUp(send, settings) {
  const until = performance.now() + LONGEST_WARM_UP
  for (let left = settings.warmUp; left > 0 && performance.now() < until; ) left -= (await send()).count
}

function summarize(group, one, samples) {
  const { work, connections } = one
  const { servers, metric = 'cpu' } = group
  const of = (name) => samples.get(keyOf(name, one))
  console.log(`\n${group.name}, ${work}, ${connections} connections: CPU time per request, ratio of the ${metric}`)
  return servers.map(({ name, against }) => {
    const { cpu, rate, memory, start, paced } = of(name)
    const base = against ? servers.find((server) => !server.against && name.startsWith(server.name)) : servers[0]
    const ratio = ratioOf(of(name)[metric], of(base.name)[metric])
    const latency = (share) => Math.round(median(paced.map((round) => round[share])) * 1e6)
    const atRate = one.isPaced && {
      pace: Math.round(median(paced.map((round) => round.rate))),
      p50: latency('p50'),
      p99: latency('p99'),
    }
    const figures = [
      `${median(cpu.flat()).toFixed(1).padStart(7)} us  ${ratioText(ratio).padEnd(22)} of ${base.name.padEnd(15)}`,
      `${median(rate.flat()).toFixed(0).padStart(7)}/s  ${median(memory).toFixed(0).padStart(4)} MB`,
      ...(atRate ? [`  p99 ${atRate.p99} us at ${atRate.pace}/s`] : []),
    ]
    console.log(`  ${name.padEnd(28)} ${figures.join(' ')}`)
    return {
      group: group.name,
      name,
      work,
      connections,
      cpu: rounded(cpu, 100),
      rate: rounded(rate, 1),
      memory: Math.round(median(memory)),
      start: Math.round(median(start)),
      ...atRate,
    }
  })
}

/** Keeps the file of the results small. */
const rounded = (samples, by) => samples.map((rounds) => rounds.map((value) => Math.round(value * by) / by))
