import { checkServer } from './check.mjs'
import { p99AtRate, sendAll } from './load.mjs'
import { contestants, EARLIER, OURS, usageOf, withServers } from './servers.mjs'
import { median, ratioOf, ratioText, shuffled } from './statistics.mjs'
import { works } from './work.mjs'

/**
 * Compares servers of one runtime. They take turns in short rounds, in random order, so that a slow moment of the machine affects
 * all of them. Each server runs in several processes, because the same code is faster in one process than in another.
 */
export async function http(group, settings) {
  const servers = contestants(group, settings.against)
  const results = []
  for (const [work, { pets, requests }] of Object.entries(works)) {
    if (settings.only && settings.only !== work) continue
    const env = pets ? { BENCH_PETS: String(pets) } : {}
    const samples = new Map(servers.map(({ name }) => [name, { cpu: [], p99: [], memory: [], start: [] }]))
    for (let process = 0; process < settings.processes; process++) {
      // A bare handler has only the first pages, so it cannot be walked.
      const compared = servers.filter(({ repeats }) => !(repeats && pets))
      const withEnv = compared.map((server) => ({ ...server, env: { ...server.env, ...env } }))
      await withServers(shuffled(withEnv), async (running) => {
        if (!pets) for (const server of running) await checkServer(server)
        await measure({ settings, running, requests, samples, isPaced: !pets && work !== 'varied' })
      })
    }
    results.push(...summarize(group, work, servers, samples))
  }
  return results
}

async function measure({ settings, running, requests, samples, isPaced }) {
  const sent = new Map()
  const rates = new Map(running.map((server) => [server, []]))
  for (const server of running) {
    sent.set(server, await requests(server))
    await sendAll(server, sent.get(server), settings.warmUp)
    samples.get(server.name).start.push(server.startedIn)
    samples.get(server.name).cpu.push([])
  }
  for (let round = 0; round < settings.rounds; round++) {
    for (const server of shuffled(running)) {
      const before = await usageOf(server)
      rates.get(server).push(await sendAll(server, sent.get(server), settings.requests))
      const { cpu } = await usageOf(server)
      samples
        .get(server.name)
        .cpu.at(-1)
        .push((cpu - before.cpu) / settings.requests)
    }
  }
  for (const server of running) samples.get(server.name).memory.push((await usageOf(server)).memory)
  if (!isPaced) return
  // The same rate for all: half of what the slowest server can do.
  const rate = Math.floor(Math.min(...[...rates.values()].map(median)) / 2)
  for (let round = 0; round < settings.rounds; round++)
    for (const server of shuffled(running))
      samples.get(server.name).p99.push(await p99AtRate(server, sent.get(server), rate, settings.seconds))
}

function summarize(group, work, servers, samples) {
  const ours = samples.get(OURS)
  return servers
    .filter(({ name }) => samples.get(name).cpu.length > 0)
    .map(({ name }) => {
      const { cpu, p99, memory, start } = samples.get(name)
      const ratio = ratioOf(ours.cpu, cpu)
      const result = {
        group,
        work,
        name,
        cpu: median(cpu.flat()),
        ratio,
        p99: p99.length > 0 ? median(p99) : undefined,
        memory: median(memory) / 2 ** 20,
        start: median(start),
      }
      const compared = name === OURS ? '' : `, ${OURS} takes ${ratioText(ratio)} of it`
      const paced = result.p99 === undefined ? '' : `, p99 ${result.p99.toFixed(0)} us`
      console.log(`${group}, ${work}, ${name}: ${result.cpu.toFixed(1)} us${compared}${paced}`)
      return result
    })
}

/** Returns a Markdown table of a group: a row for each kind of work. Behind each figure of a peer: ours divided by it. */
export function httpTable(results, group) {
  const of = results.filter((result) => result.group === group)
  const names = [...new Set(of.map(({ name }) => name))].filter((name) => name !== EARLIER)
  const cell =
    (find, unit, { digits, value }) =>
    (name) => {
      const found = of.find((result) => result.name === name && find(result))
      if (found === undefined || value(found) === undefined) return ''
      const number = value(found).toFixed(digits)
      const ours = of.find((result) => result.name === OURS && find(result))
      const ratio = unit === 'cpu' ? ratioText(found.ratio) : (value(ours) / value(found)).toFixed(2)
      return name === OURS ? `**${number}**` : `${number} · ${ratio}`
    }
  const kinds = [...new Set(of.map(({ work }) => work))]
  const row = (title, cells) => `| ${title} | ${names.map(cells).join(' | ')} |`
  return [
    `| | ${names.join(' | ')} |`,
    `| --- |${names.map(() => ' --- |').join('')}`,
    ...kinds.map((work) =>
      row(
        `${work}, µs`,
        cell((result) => result.work === work, 'cpu', { digits: 1, value: ({ cpu }) => cpu }),
      ),
    ),
    ...kinds
      .filter((work) => of.some((result) => result.work === work && result.p99 !== undefined))
      .map((work) =>
        row(
          `p99 of ${work}, µs`,
          cell((result) => result.work === work, 'p99', { digits: 0, value: ({ p99 }) => p99 }),
        ),
      ),
    row(
      'memory, MB',
      cell((result) => result.work === kinds[0], 'memory', { digits: 0, value: ({ memory }) => memory }),
    ),
    row(
      'start, ms',
      cell((result) => result.work === kinds[0], 'start', { digits: 0, value: ({ start }) => start }),
    ),
  ].join('\n')
}
